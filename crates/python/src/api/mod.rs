//! What Python sees: the functions and classes of the module. Python arguments are converted here and in `message`.

pub mod bson;
mod codec;
mod copy;

mod functions;
pub mod julia;
pub mod lisp;

pub mod msgpack;

mod inspect;
mod pickle;
mod quick;
mod sound;

use crate::error;
use holdall_format::hold::tag;
use pyo3::prelude::*;

/// Puts all of it into the module.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    error::quiet_lack_of_memory();
    // SAFETY: the GIL is held while a module is imported; the datetime API is imported before anything uses it.
    unsafe {
        crate::cpython::self_test().map_err(pyo3::exceptions::PyImportError::new_err)?;
        pyo3::ffi::PyDateTime_IMPORT();
        if pyo3::ffi::PyDateTimeAPI().is_null() {
            let why =
                "holdall needs `datetime` in C, which an interpreter with a GIL of its own has since CPython 3.13";
            let error = pyo3::exceptions::PyImportError::new_err(why);
            error.set_cause(py, PyErr::take(py));
            return Err(error);
        }
    }
    for forget in [crate::classes::plan::forget, crate::shapes::classes::forget, crate::decode::Settled::forget] {
        crate::classes::registry::on_registration(py, forget);
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    add_errors(module)?;
    module.add_class::<crate::message::limits::Limits>()?;
    module.add_class::<crate::types::record::Record>()?;
    crate::types::resolver::add_to(module)?;
    module.add_class::<codec::Encoder>()?;
    module.add_class::<codec::Decoder>()?;
    module.add_function(wrap_pyfunction!(crate::cpython::layouts_known, module)?)?;
    module.add_function(wrap_pyfunction!(functions::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(functions::loads, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::dumps_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::loads_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::load_pickle, module)?)?;
    module.add_class::<pickle::PicklerMemo>()?;
    module.add_class::<pickle::UnpicklerMemo>()?;
    add_files(module)?;
    module.add_function(wrap_pyfunction!(copy::deepcopy, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::outline, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::guess_format, module)?)?;
    module.add_function(wrap_pyfunction!(crate::message::foreign::foreign_format, module)?)?;
    module.add_function(wrap_pyfunction!(crate::message::foreign::explain_error, module)?)?;
    module.add_function(wrap_pyfunction!(crate::message::foreign::name_foreign, module)?)?;
    module.add_function(wrap_pyfunction!(crate::classes::registry::register_class, module)?)?;
    module.add_function(wrap_pyfunction!(crate::classes::registry::register_function, module)?)?;
    module.add_function(wrap_pyfunction!(crate::classes::registry::class_settings, module)?)?;
    module.add_function(wrap_pyfunction!(crate::classes::registry::registered_subclasses, module)?)?;
    module.add_function(wrap_pyfunction!(crate::classes::registry::class_registration, module)?)?;
    module.add_class::<crate::schema::CompiledSchema>()?;
    module.add_function(wrap_pyfunction!(crate::schema::compile_schema, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::loads, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::scan, module)?)?;
    module.add("MsgpackEncoder", py.get_type::<msgpack::MsgpackEncoder>())?;
    module.add("MsgpackDecoder", py.get_type::<msgpack::MsgpackDecoder>())?;
    module.add_function(wrap_pyfunction!(bson::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(bson::loads, module)?)?;
    module.add("BsonEncoder", py.get_type::<bson::BsonEncoder>())?;
    module.add("BsonDecoder", py.get_type::<bson::BsonDecoder>())?;
    module.add_class::<crate::lazy::Document>()?;
    module.add_function(wrap_pyfunction!(crate::lazy::open, module)?)?;
    module.add("julia_tags", julia::tags(py)?)?;
    module.add_function(wrap_pyfunction!(julia::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(julia::loads, module)?)?;
    module.add_function(wrap_pyfunction!(julia::parse, module)?)?;
    module.add_function(wrap_pyfunction!(julia::open, module)?)?;
    module.add_function(wrap_pyfunction!(lisp::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(lisp::loads, module)?)?;
    module.add_function(wrap_pyfunction!(lisp::open, module)?)?;
    module.add_function(wrap_pyfunction!(bson::pymongo_encode, module)?)?;
    module.add_function(wrap_pyfunction!(bson::pymongo_decode, module)?)?;
    module.add_function(wrap_pyfunction!(bson::pymongo_decode_all, module)?)?;
    sound::fill(module)?;
    put_quick(module)
}

/// Files and logs, and the bytes that tell what is sealed from what is not.
fn add_files(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(crate::io::files::dump, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::files::load, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::files::load_mapped, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::files::file_write, module)?)?;
    module.add_class::<crate::io::log::LogWriter>()?;
    module.add_class::<crate::io::log::LogReader>()?;
    module.add_class::<crate::io::log::Damage>()?;
    module.add_function(wrap_pyfunction!(crate::io::log::check::verify, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::log::check::repair, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::log::check::file_kind, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::log::check::frames_of, module)?)?;
    module.add_function(wrap_pyfunction!(crate::io::log::check::file_body, module)?)?;
    first_bytes(module)
}

/// Has the commonest calls come ahead of PyO3's functions.
fn put_quick(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    codec::ENCODE.put_before_method::<codec::Encoder>(py)?;
    codec::DECODE.put_before_method::<codec::Decoder>(py)?;
    msgpack::ENCODE.put_before_method::<msgpack::MsgpackEncoder>(py)?;
    msgpack::DECODE.put_before_method::<msgpack::MsgpackDecoder>(py)?;
    for function in [&functions::DUMPS, &functions::LOADS, &msgpack::DUMPS, &msgpack::LOADS] {
        function.put(module)?;
    }
    Ok(())
}

fn add_errors(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in [
        ("HoldallError", py.get_type::<error::HoldallError>()),
        ("EncodeError", py.get_type::<error::EncodeError>()),
        ("DecodeError", py.get_type::<error::DecodeError>()),
        ("TruncatedError", py.get_type::<error::TruncatedError>()),
        ("ChecksumError", py.get_type::<error::ChecksumError>()),
        ("LimitError", py.get_type::<error::LimitError>()),
        ("UnknownTypeError", py.get_type::<error::UnknownTypeError>()),
        ("ValidationError", py.get_type::<error::ValidationError>()),
    ] {
        module.add(name, class)?;
    }
    Ok(())
}

/// How what holdall writes begins, for those who look at it before they read it.
fn first_bytes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("file_start_size", holdall_format::hold::frame::START)?;
    let starts = [tag::VERSION, tag::VERSION_TRUSTED, tag::VERSION_CONTINUED];
    module.add("message_starts", pyo3::types::PyBytes::new(module.py(), &starts))?;
    module.add("sealed_start", tag::SEALED)?;
    module.add("sealed_log_start", tag::SEALED_LOG)
}
