//! Profiles with a few criteria on the kernels of `mem.bandwidth`.

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

/// Three criteria on shares of the limit, which are skipped where none is known.
pub fn shares_of_the_limit() -> String {
    let share = |percent: u32| {
        format!("at_least = {{ percent_of = \"limit\", value = {percent} }}\nwithout_limit = \"skip\"")
    };
    profile(&[("read", &share(65)), ("copy", &share(55)), ("triad", &share(55))])
}

pub fn bound(line: &str) -> String {
    profile(&[("triad", line)])
}
