//! The peers that `--prepare` builds. All need a CUDA toolkit: `nvcc` in PATH, or `CUDA_HOME`; the architecture is that of this
//! machine's GPU, or `CUDA_ARCH` (`sm_90`).

use crate::packages::Package;
use crate::versus::peer::{GCC, MAKE, Peer};

const CXX: Package = Package { name: "g++", program: "g++", reason: "peers of GPUs are built by it" };

/// 0.8, built as its CMakeLists.txt does. Its parser of options is Boost's (libboost-program-options-dev), linked statically.
pub const NVBANDWIDTH: Peer = Peer {
    name: "nvbandwidth",
    area: "gpu",
    url: "https://github.com/NVIDIA/nvbandwidth",
    commit: "66746a3bef61c8c2e12ab34955310da70b9e38cb",
    packages: &[GCC, CXX],
    build: "cuda=${CUDA_HOME:-/usr/local/cuda}; PATH=$PATH:$cuda/bin
        echo '#include <boost/program_options.hpp>' | g++ -E -x c++ - >/dev/null 2>&1 || \
        { echo 'install libboost-program-options-dev' >&2; exit 1; }
        nvcc -O3 -std=c++17 -arch=${CUDA_ARCH:-native} -I. -DGIT_VERSION='\"66746a3b\"' -L$cuda/lib64/stubs \
        testcase.cpp testcases_ce.cpp testcases_sm.cpp kernels.cu memcpy.cpp nvbandwidth.cpp multinode_memcpy.cpp \
        multinode_testcases.cpp output.cpp json_output.cpp json/jsoncpp.cpp -o nvbandwidth \
        -l:libboost_program_options.a -lnvidia-ml -lcuda",
    programs: &["nvbandwidth"],
};

/// 2.19.6. `nccl/lib/libnccl.so.2` is the library that both sides load: that of `NCCL_HOME`, of Python's wheel, or the system's.
pub const NCCL_TESTS: Peer = Peer {
    name: "nccl-tests",
    area: "gpu",
    url: "https://github.com/NVIDIA/nccl-tests",
    commit: "a0b82b2260cf5152b9f8c061bbf7eaf0ba096432",
    packages: &[GCC, CXX, MAKE],
    build: "cuda=${CUDA_HOME:-/usr/local/cuda}; PATH=$PATH:$cuda/bin
        wheel=$(python3 -c 'import nvidia.nccl as nccl; print(list(nccl.__path__)[0])' 2>/dev/null || true)
        nccl=${NCCL_HOME:-${wheel:-/usr}}
        library=$(ls $nccl/lib/libnccl.so.2 $nccl/lib/*/libnccl.so.2 2>/dev/null | head -n 1)
        mkdir -p nccl/lib && ln -sfn $nccl/include nccl/include
        ln -sf $library nccl/lib/libnccl.so && ln -sf $library nccl/lib/libnccl.so.2
        lib=$(ls -d $cuda/lib64 $cuda/lib 2>/dev/null | head -n 1)
        make -C src BUILDDIR=../build NCCL_HOME=$PWD/nccl CUDA_HOME=$cuda CUDA_LIB=$lib \
        NVCC_GENCODE=-arch=${CUDA_ARCH:-native} ../build/all_reduce_perf ../build/alltoall_perf",
    programs: &["build/all_reduce_perf", "build/alltoall_perf", "nccl/lib/libnccl.so.2"],
};

/// Of 2026-05. cuBLAS is the toolkit's, or that of Python's wheel.
pub const GPU_BURN: Peer = Peer {
    name: "gpu-burn",
    area: "gpu",
    url: "https://github.com/wilicc/gpu-burn",
    commit: "3ead140434da9473582b68452f7115967a7a0581",
    packages: &[GCC, CXX, MAKE],
    build: "cuda=${CUDA_HOME:-/usr/local/cuda}; PATH=$PATH:$cuda/bin
        wheel=$(python3 -c 'import nvidia.cu13 as cuda; print(list(cuda.__path__)[0])' 2>/dev/null || true)
        mkdir -p lib
        for name in cublas cudart; do
            found=$(ls $cuda/lib64/lib$name.so $cuda/lib/lib$name.so.* $wheel/lib/lib$name.so.* 2>/dev/null | head -n 1)
            ln -sf $found lib/lib$name.so && paths=\"$paths -Wl,-rpath=$(dirname $found)\"
        done
        make CUDAPATH=$cuda CFLAGS=-I$wheel/include LDFLAGS=\"-L$PWD/lib $paths\" gpu_burn",
    programs: &["gpu_burn", "compare.fatbin"],
};
