#!/usr/bin/env bash
# Builds llama-server, a rival of benchmarks/rivals.py, from the llama.cpp source that the
# llama-cpp-python package carries: the very version this project's GGUF engine runs.
#
#   benchmarks/llama_server.sh FOLDER [llama_cpp_python-VERSION.tar.gz]
#
# Writes FOLDER/bin/llama-server and leaves the source and the build beside it. Without a second
# argument the source package comes through pip, at LLAMA_CPP_PYTHON (0.3.36). JOBS is how many
# files are compiled at once (2). Needs cmake and a C++ compiler; nothing else is downloaded. On a
# processor with AMX take clang (CC=clang CXX=clang++): gcc 12 makes a server that crashes there.
set -euo pipefail

if [ $# -lt 1 ]; then
    echo "Name the folder to build in: benchmarks/llama_server.sh FOLDER [SDIST]" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
sdist=${2:-}
version=${LLAMA_CPP_PYTHON:-0.3.36}

if [ -z "$sdist" ]; then
    python3 -m pip download --quiet --no-deps --no-binary llama-cpp-python \
        --dest "$folder" "llama-cpp-python==$version"
    sdist=$folder/llama_cpp_python-$version.tar.gz
fi
mkdir -p "$folder/source"
tar xzf "$sdist" -C "$folder/source" --strip-components=1

# As a user would build it for this machine. The server's web page is left out, which cmake would
# fetch, and so is curl.
cmake -S "$folder/source/vendor/llama.cpp" -B "$folder/build" \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=ON \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
cmake --build "$folder/build" --target llama-server -j "${JOBS:-2}"
mkdir -p "$folder/bin"
cp "$folder/build/bin/llama-server" "$folder/bin/"
"$folder/bin/llama-server" --version
