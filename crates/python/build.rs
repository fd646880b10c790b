fn main() {
    // `cfg(Py_3_12)` and its like, for the structs whose layout differs by version.
    pyo3_build_config::use_pyo3_cfgs();
}
