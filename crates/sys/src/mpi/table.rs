//! The MPI functions that Seatrial uses. Handles are passed as 64-bit integers, see [`Handle`].
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{c_char, c_int, c_void};

use super::abi::Handle;
use crate::library::table;

table! {
    /// Functions of an MPI library.
    Table {
        abi_version(*mut c_int, *mut c_int) = c"MPI_Abi_get_version";
        library_version(*mut c_char, *mut c_int) = c"MPI_Get_library_version";
        version(*mut c_int, *mut c_int) = c"MPI_Get_version";
        error_string(c_int, *mut c_char, *mut c_int) = c"MPI_Error_string";
        init(*mut c_int, *mut c_void, c_int, *mut c_int) = c"MPI_Init_thread";
        finalize() = c"MPI_Finalize";
        abort(Handle, c_int) = c"MPI_Abort";
        set_error_handler(Handle, Handle) = c"MPI_Comm_set_errhandler";
        rank(Handle, *mut c_int) = c"MPI_Comm_rank";
        size(Handle, *mut c_int) = c"MPI_Comm_size";
        split(Handle, c_int, c_int, *mut Handle) = c"MPI_Comm_split";
        send(*const c_void, c_int, Handle, c_int, c_int, Handle) = c"MPI_Send";
        receive(*mut c_void, c_int, Handle, c_int, c_int, Handle, usize) = c"MPI_Recv";
        start_send(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void) = c"MPI_Isend";
        start_receive(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void) = c"MPI_Irecv";
        wait(*mut c_void, usize) = c"MPI_Wait";
        wait_all(c_int, *mut c_void, usize) = c"MPI_Waitall";
        barrier(Handle) = c"MPI_Barrier";
        broadcast(*mut c_void, c_int, Handle, c_int, Handle) = c"MPI_Bcast";
        reduce(*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle) = c"MPI_Reduce";
        all_reduce(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) = c"MPI_Allreduce";
        all_gather(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) = c"MPI_Allgather";
        all_to_all(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) = c"MPI_Alltoall";
        gather(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, c_int, Handle) = c"MPI_Gather";
        scatter(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, c_int, Handle) = c"MPI_Scatter";
        reduce_scatter_block(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) = c"MPI_Reduce_scatter_block";
        group(Handle, *mut c_void) = c"MPI_Comm_group";
        group_include(Handle, c_int, *const c_int, *mut c_void) = c"MPI_Group_incl";
        group_free(*mut c_void) = c"MPI_Group_free";
        address(*const c_void, *mut isize) = c"MPI_Get_address";
        window_allocate(isize, c_int, Handle, Handle, *mut c_void, *mut c_void) = c"MPI_Win_allocate";
        window_create(*mut c_void, isize, c_int, Handle, Handle, *mut c_void) = c"MPI_Win_create";
        window_dynamic(Handle, Handle, *mut c_void) = c"MPI_Win_create_dynamic";
        window_attach(Handle, *mut c_void, isize) = c"MPI_Win_attach";
        window_detach(Handle, *const c_void) = c"MPI_Win_detach";
        window_free(*mut c_void) = c"MPI_Win_free";
        window_error_handler(Handle, Handle) = c"MPI_Win_set_errhandler";
        lock(c_int, c_int, c_int, Handle) = c"MPI_Win_lock";
        unlock(c_int, Handle) = c"MPI_Win_unlock";
        flush(c_int, Handle) = c"MPI_Win_flush";
        fence(c_int, Handle) = c"MPI_Win_fence";
        start_access(Handle, c_int, Handle) = c"MPI_Win_start";
        complete_access(Handle) = c"MPI_Win_complete";
        post_exposure(Handle, c_int, Handle) = c"MPI_Win_post";
        wait_exposure(Handle) = c"MPI_Win_wait";
        put(*const c_void, c_int, Handle, c_int, isize, c_int, Handle, Handle) = c"MPI_Put";
        get(*mut c_void, c_int, Handle, c_int, isize, c_int, Handle, Handle) = c"MPI_Get";
        accumulate(*const c_void, c_int, Handle, c_int, isize, c_int, Handle, Handle, Handle) = c"MPI_Accumulate";
        fetch_and_op(*const c_void, *mut c_void, Handle, c_int, isize, Handle, Handle) = c"MPI_Fetch_and_op";
        compare_and_swap(*const c_void, *const c_void, *mut c_void, Handle, c_int, isize, Handle) = c"MPI_Compare_and_swap";
        scan(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) = c"MPI_Scan";
        start_barrier(Handle, *mut c_void) = c"MPI_Ibarrier";
        start_broadcast(*mut c_void, c_int, Handle, c_int, Handle, *mut c_void) = c"MPI_Ibcast";
        start_reduce(*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle, *mut c_void) = c"MPI_Ireduce";
        start_all_reduce(*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut c_void) = c"MPI_Iallreduce";
        start_all_gather(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut c_void) = c"MPI_Iallgather";
        start_all_to_all(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut c_void) = c"MPI_Ialltoall";
        start_gather(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, c_int, Handle, *mut c_void) = c"MPI_Igather";
        start_scatter(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, c_int, Handle, *mut c_void) = c"MPI_Iscatter";
        start_reduce_scatter_block(*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut c_void) = c"MPI_Ireduce_scatter_block";
        start_scan(*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut c_void) = c"MPI_Iscan";
    }
}
