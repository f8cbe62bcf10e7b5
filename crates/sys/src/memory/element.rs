//! Numeric types that raw memory may be viewed as.
#![expect(unsafe_code, reason = "a promise about bit patterns that only unsafe traits can carry")]

mod sealed {
    pub trait Sealed {}
}

/// A number for which every pattern of bits is a value, so that raw memory can be read as a slice of it.
///
/// # Safety
/// Sealed: implemented here for the primitive integers and floats, which have no padding, no invalid pattern, no
/// destructor and an alignment below any page size.
pub unsafe trait Element: Copy + Send + Sync + sealed::Sealed + 'static {}

macro_rules! elements {
    ($($number:ty)+) => {
        $(
            impl sealed::Sealed for $number {}
            // SAFETY: a primitive number: no padding, every bit pattern valid, no destructor, small alignment.
            unsafe impl Element for $number {}
        )+
    };
}

elements!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
