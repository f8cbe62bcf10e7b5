//! The files of a data set: where each is and how large.

use std::path::PathBuf;

use seatrial_bench::payload::Payload;

use super::names::name;
use super::recipe::Recipe;

/// A recipe with the number from which the content of all files follows.
#[derive(Debug)]
pub struct DataSet {
    pub recipe: Recipe,
    pub(super) payload: Payload,
}

impl DataSet {
    pub fn new(recipe: Recipe, number: u64) -> Self {
        Self { payload: Payload::new(number, recipe.compressible), recipe }
    }

    /// The directories below the folder of the set, those above first.
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        let mut level = vec![PathBuf::new()];
        for _ in 0..self.recipe.depth {
            let below = |path: &PathBuf| {
                let path = path.clone();
                (0..self.recipe.breadth)
                    .map(move |number| path.join(name(number, self.recipe.has_hard_names)))
            };
            level = level.iter().flat_map(below).collect();
            all.extend(level.iter().cloned());
        }
        all
    }

    /// The path of the file of this number, below the folder of the set.
    pub fn path(&self, number: u64) -> PathBuf {
        let lowest = self.recipe.lowest().unwrap_or(1);
        let (mut place, mut path) = (number % lowest, PathBuf::new());
        let mut share = lowest;
        for _ in 0..self.recipe.depth {
            share /= self.recipe.breadth;
            path.push(name(place / share, self.recipe.has_hard_names));
            place %= share;
        }
        // Numbers of files begin behind those of directories, so that no file has the name of a directory beside it.
        path.join(name(self.recipe.breadth + number, self.recipe.has_hard_names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_in_a_directory_of_the_set_and_all_have_as_many() {
        for (depth, breadth) in [(0, 5), (1, 8), (3, 3), (2, 1)] {
            let recipe = Recipe {
                files: 270,
                size: 1,
                is_mix: false,
                depth,
                breadth,
                has_hard_names: true,
                has_special: false,
                compressible: 0.0,
            };
            let set = DataSet::new(recipe, 1);
            let directories: BTreeSet<PathBuf> =
                set.directories().into_iter().chain([PathBuf::new()]).collect();
            let paths: BTreeSet<PathBuf> = (0..270).map(|number| set.path(number)).collect();
            assert_eq!(paths.len(), 270);
            assert!(paths.is_disjoint(&directories));
            let mut held = std::collections::BTreeMap::<_, u64>::new();
            for path in &paths {
                let parent = path.parent().expect("a parent").to_owned();
                assert!(directories.contains(&parent), "{}", path.display());
                *held.entry(parent).or_default() += 1;
            }
            assert_eq!(held.len() as u64, breadth.pow(depth));
            assert!(held.values().all(|count| count.abs_diff(270 / held.len() as u64) <= 1), "{held:?}");
        }
    }
}
