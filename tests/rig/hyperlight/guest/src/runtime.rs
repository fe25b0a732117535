// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every guest has to define.

use alloc::format;
use hyperlight_common::flatbuffer_wrappers::function_call::FunctionCall;
use hyperlight_common::flatbuffer_wrappers::function_types::ReturnValue;
use hyperlight_guest::bail;
use hyperlight_guest::error::Result;

#[unsafe(no_mangle)]
pub extern "C" fn hyperlight_main() {}

#[unsafe(no_mangle)]
pub fn guest_dispatch_function(call: FunctionCall) -> Result<ReturnValue> {
    bail!("no such function: {}", format!("{}", call.function_name));
}

// What the core of a hosted target names, and nothing here reaches.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}
