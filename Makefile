# Every target makes the environment it needs; only Python 3.11 or later is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test slow lint bench clean

demo: $(VENV)/ready
	$(BIN)/foredraft run "Repeat this sentence three times, word for word: The tide comes in twice a day, and twice a day the tide goes out."

test: $(VENV)/llama
	$(BIN)/pytest --numprocesses 2 --dist loadfile

slow: $(VENV)/llama
	$(BIN)/pytest -m slow

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/python benchmarks/decode.py

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "foredraft needs Python 3.11 or later; run make with PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# llama.cpp is compiled here (minutes), and only what this project calls: no tools, no server.
export CMAKE_ARGS ?= -DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/llama.cmake

$(VENV)/llama: $(VENV)/ready llama.cmake
	if command -v $${CXX:-c++} >/dev/null; then \
		$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[gguf]'; \
	else \
		echo "There is no C++ compiler, so llama.cpp is left out: its tests are skipped."; \
	fi
	touch $@

clean:
	rm -rf $(VENV)
