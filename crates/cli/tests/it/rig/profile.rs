//! Profiles of a few criteria on the loops of `mem.bandwidth`.

/// A profile that measures the loops it has a bound for and holds each against it.
pub fn profile(bounds: &[(&str, &str)]) -> String {
    let kernels: Vec<String> = bounds.iter().map(|(kernel, _)| format!("\"{kernel}\"")).collect();
    let mut text = format!(
        "title = \"a test\"\n\n[[test]]\nid = \"memory\"\nuse = \"mem.bandwidth\"\nparams = {{ kernel = [{}] }}\n",
        kernels.join(", ")
    );
    for (kernel, bound) in bounds {
        text += &format!(
            "\n[[criterion]]\nid = \"{kernel}\"\ntest = \"memory\"\nmetric = \"bandwidth\"\n\
             where = {{ kernel = \"{kernel}\" }}\n{bound}\n"
        );
    }
    text
}

/// A profile with one criterion, on triad, of which only the bound is of interest.
pub fn bound(line: &str) -> String {
    profile(&[("triad", line)])
}
