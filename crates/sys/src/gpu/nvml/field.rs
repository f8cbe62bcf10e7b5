//! NVML values that are queried by a field number (`nvmlDeviceGetFieldValues`).
#![expect(unsafe_code, reason = "calls a function of the library")]

use super::layout::FieldValue;
use super::library::{Handle, NvmlError, answer, ask};

pub(super) const NVLINK_COUNT: u32 = 91;
/// `NVML_FI_DEV_NVLINK_GET_SPEED`: MB/s of a link in one direction.
pub(super) const NVLINK_SPEED: u32 = 164;
/// `NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON`: MB/s of every link where all are alike; missing on newer devices.
pub(super) const NVLINK_SPEED_OF_ALL: u32 = 90;

impl Handle<'_> {
    /// The value of a field as a number; `scope` is the link, or 0.
    pub(super) fn field(&self, field: u32, scope: u32) -> Result<u64, NvmlError> {
        const CALL: &str = "nvmlDeviceGetFieldValues";
        let mut value = FieldValue { field, scope, ..FieldValue::default() };
        ask!(self.nvml, fields(self.device, 1, &raw mut value))?;
        answer(CALL, value.answer.cast_signed())?;
        let low = u32::from_ne_bytes([value.value[0], value.value[1], value.value[2], value.value[3]]);
        let all = u64::from_ne_bytes(value.value);
        // `nvmlValueType_t`: double, unsigned int, unsigned long, unsigned long long, signed long long, signed int.
        match value.value_type {
            1 => Ok(low.into()),
            2 | 3 => Ok(all),
            4 if all.cast_signed() >= 0 => Ok(all),
            5 if low.cast_signed() >= 0 => Ok(low.into()),
            other => Err(NvmlError::Garbage { call: CALL, what: format!("field {field} of type {other}") }),
        }
    }
}
