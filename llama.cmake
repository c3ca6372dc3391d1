# Read by CMake when llama-cpp-python is built: leaves out llama.cpp's common library, which
# is nearly half of the compilation and which nothing here calls.
set(LLAMA_BUILD_COMMON OFF)
