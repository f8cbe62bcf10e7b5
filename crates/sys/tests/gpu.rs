//! The driver's table and the code above it, with a fake driver.

#[path = "fake_gpu/compile.rs"]
mod fake;

use std::sync::Arc;

use fake::Fake;
use seatrial_sys::Errno;
use seatrial_sys::gpu::cuda::Cuda;
use seatrial_sys::gpu::nvml::{Clock, GpuValue, Nvml};
use seatrial_sys::gpu::{
    DeviceMemory, Driver, Event, Gate, Gpu, GpuError, GpuFault, Module, PinnedMemory, Span, Stream,
};
use seatrial_sys::memory::{MapRequest, Mapping, Pages, Place};

fn driver(fake: &Fake) -> Arc<dyn Driver> {
    Cuda::open_at(&fake.library()).expect("a driver")
}

fn gpu(fake: &Fake) -> Gpu {
    Gpu::at(&driver(fake), "0000:10:00.0").expect("an answer").expect("a device")
}

fn pinned(gpu: &Gpu, bytes: usize) -> Arc<PinnedMemory> {
    let request = MapRequest { bytes, cap_bytes: bytes, pages: &[Pages::Base], place: Place::Local };
    PinnedMemory::pin(gpu, Mapping::map(&request).expect("memory")).expect("pinned")
}

#[test]
fn devices_are_told_apart_by_their_address_and_described() {
    let fake = Fake::new("devices=2");
    let driver = driver(&fake);
    assert_eq!((driver.device_count(), driver.version()), (Ok(2), Ok("12.4".to_owned())));
    let second = Gpu::at(&driver, "0000:11:00.0").expect("an answer").expect("a device");
    let properties = second.properties();
    assert_eq!(
        (properties.name.as_str(), properties.capability, properties.processors),
        ("Fake GPU", (9, 0), 4)
    );
    assert!(Gpu::at(&driver, "0000:ff:00.0").expect("an answer").is_none());
}

#[test]
fn a_function_that_the_driver_lacks_is_named_and_the_rest_works() {
    let fake = Fake::lacking("cuStreamWaitValue32", "");
    let gpu = gpu(&fake);
    let (stream, gate) = (Stream::new(&gpu).expect("a stream"), Gate::new(&gpu).expect("a gate"));
    let error = stream.hold(&gate).expect_err("too old");
    assert_eq!(
        (error.fault(), error.to_string().as_str()),
        (GpuFault::NotSupported, "driver too old for cuStreamWaitValue32")
    );
    stream.finish().expect("an empty stream ends");
}

#[test]
fn work_behind_a_gate_waits_for_it_and_is_timed_by_the_device() {
    let fake = Fake::new("h2d=50 d2h=25");
    let gpu = gpu(&fake);
    let (mut host, device) = (pinned(&gpu, 1 << 20), DeviceMemory::take(&gpu, 1 << 20).expect("memory"));
    PinnedMemory::words_mut(&mut host).expect("nobody uses it")[5] = 77;
    let (stream, gate) = (Stream::new(&gpu).expect("a stream"), Gate::new(&gpu).expect("a gate"));
    let marks: Vec<Event> = (0..3).map(|_| Event::new(&gpu).expect("a mark")).collect();
    gate.close();
    stream.hold(&gate).expect("held");
    marks[0].record(&stream).expect("recorded");
    stream.copy(Span::Device(&device, 0), Span::Pinned(&host, 0), 1 << 20).expect("queued");
    marks[1].record(&stream).expect("recorded");
    stream.copy(Span::Pinned(&host, 4096), Span::Device(&device, 0), 4096).expect("queued");
    marks[2].record(&stream).expect("recorded");
    assert!(PinnedMemory::words(&mut host).is_none(), "a stream may still write it");
    gate.open();
    stream.finish().expect("done");
    assert_eq!(PinnedMemory::words(&mut host).expect("nobody uses it")[512 + 5], 77);
    let (to, from) = (marks[0].until_ns(&marks[1]), marks[1].until_ns(&marks[2]));
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
    assert!(near(to.expect("a time"), 20971.52) && near(from.expect("a time"), 163.84));
}

#[test]
fn a_stream_that_is_given_up_behind_a_closed_gate_does_not_wait_for_ever() {
    let fake = Fake::new("");
    let gpu = gpu(&fake);
    let (stream, gate) = (Stream::new(&gpu).expect("a stream"), Gate::new(&gpu).expect("a gate"));
    gate.close();
    stream.hold(&gate).expect("held");
    drop(stream);
}

#[test]
fn nothing_reaches_beyond_its_memory_or_into_another_device() {
    let fake = Fake::new("devices=2");
    let driver = driver(&fake);
    let at = |address| Gpu::at(&driver, address).expect("an answer").expect("a device");
    let (one, other) = (at("0000:10:00.0"), at("0000:11:00.0"));
    let memory = DeviceMemory::take(&one, 4096).expect("memory");
    let stream = Stream::new(&one).expect("a stream");
    let error = stream.set(Span::Device(&memory, 8), 0, 4096).expect_err("beyond");
    assert_eq!(error, GpuError::Beyond { offset: 8, bytes: 4096, size: 4096 });
    let error = Event::new(&other).expect("a mark").record(&stream).expect_err("another device");
    assert_eq!(error.to_string(), "the event belongs to another device");
}

#[test]
fn a_refused_text_comes_with_the_words_of_the_translator() {
    let fake = Fake::new("fail=cuModuleLoadDataEx:222");
    let error = Module::load(&gpu(&fake), c".version 9.9").expect_err("refused");
    assert_eq!(error.fault(), GpuFault::CodeRefused);
    let said =
        "cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): ptxas fatal: as planned by the test";
    assert_eq!(error.to_string(), said);
}

#[test]
fn memory_that_cannot_be_pinned_and_a_lost_device_are_sorted() {
    let fake = Fake::new("pin=8192 fail=cuStreamSynchronize:719");
    let gpu = gpu(&fake);
    let request = MapRequest { bytes: 16384, cap_bytes: 16384, pages: &[Pages::Base], place: Place::Local };
    let error = PinnedMemory::pin(&gpu, Mapping::map(&request).expect("memory")).expect_err("too much");
    assert_eq!(error.fault(), GpuFault::OutOfMemory);
    let lost = Stream::new(&gpu).expect("a stream").finish().expect_err("lost");
    assert_eq!(lost.fault(), GpuFault::Lost);
}

#[test]
fn the_management_library_tells_clocks_links_and_modes() {
    let fake = Fake::new("gen_now=3 mig=1 throttle=4 replays=7 mode=3");
    let library = Nvml::open_at(&fake.library()).expect("a library");
    assert_eq!(library.driver_version(), Ok("550.54".to_owned()));
    let device = library.at("0000:10:00.0").expect("a device");
    assert_eq!((device.name(), device.uuid()), (Ok("Fake GPU".to_owned()), Ok("GPU-fake-0".to_owned())));
    assert_eq!((device.link_generation(), device.max_link_generation()), (Ok(3), Ok(5)));
    assert_eq!((device.max_clock_mhz(Clock::Memory), device.memory_bus_bits()), (Ok(5000), Ok(1000)));
    assert_eq!((device.is_cut(), device.compute_mode()), (Ok(true), Ok("exclusive")));
    assert_eq!(device.throttle().map(|bits| bits.causes().collect::<Vec<_>>()), Ok(vec!["power cap"]));
    assert_eq!(device.errors().replays, Some(7));
    assert_eq!(device.processes(), Ok(vec![std::process::id()]));
    let links = device.nvlinks().expect("links");
    assert_eq!((links.count, links.megabytes_per_second), (3, Some(250_000)));
    assert_eq!(links.active, [Some("0000:c1:00.0".to_owned()), Some("0000:c1:00.0".to_owned())]);
    assert!(library.at("0000:ff:00.0").is_none());
}

#[test]
fn values_are_set_and_read_back_as_text() {
    let fake = Fake::new("persistence=0 retired=2 link_errors=3");
    let library = Nvml::open_at(&fake.library()).expect("a library");
    let device = library.at("0000:10:00.0").expect("a device");
    for (value, before, after) in [
        (GpuValue::Persistence, "0", "1"),
        (GpuValue::ComputeMode, "default", "exclusive"),
        (GpuValue::PowerLimit, "700", "512.5"),
        (GpuValue::ApplicationClock, "1980", "1200"),
    ] {
        assert_eq!(value.text(&device).as_deref(), Ok(before), "{value:?}");
        for text in [after, before, after] {
            assert_eq!(value.set(&device, text), Ok(()), "{value:?}");
            assert_eq!(value.text(&device).as_deref(), Ok(text), "{value:?}");
        }
        assert_eq!(value.set(&device, "much"), Err(Errno::INVAL), "{value:?}");
    }
    assert_eq!(device.application_clocks(), Ok((1200, 1980)));
    assert_eq!((device.retired_pages(), device.nvlink_errors()), (Ok(4), Ok(2 * 3 * 3)));
    let denied = Fake::new("fail=nvmlDeviceSetPersistenceMode:4");
    let library = Nvml::open_at(&denied.library()).expect("a library");
    let device = library.at("0000:10:00.0").expect("a device");
    assert_eq!(GpuValue::Persistence.set(&device, "0"), Err(Errno::PERM));
}

#[test]
fn an_error_that_the_driver_reports_comes_with_its_number_once() {
    let fake = Fake::new("xid=79");
    let library = Nvml::open_at(&fake.library()).expect("a library");
    let xids = library.at("0000:10:00.0").expect("a device").xids().expect("it listens");
    assert_eq!((xids.seen(), xids.seen()), (vec![79], Vec::new()));
    let deaf = Fake::new("fail=nvmlDeviceRegisterEvents:3");
    let library = Nvml::open_at(&deaf.library()).expect("a library");
    let error = library.at("0000:10:00.0").expect("a device").xids().expect_err("no events");
    assert_eq!(error.to_string(), "nvmlDeviceRegisterEvents: not supported (3)");
}
