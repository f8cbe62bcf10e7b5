//! The offers that a part connects with: shared by the messages to all parts, so that a thousand parts cost the
//! controller one copy.

use std::sync::Arc;

use seatrial_bench::Offer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Offers by index. A copy shares them; on the wire they are a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offers(Arc<[Arc<Offer>]>);

impl Offers {
    /// The offers themselves, for the part.
    pub fn into_vec(self) -> Vec<Offer> {
        self.0.iter().map(|offer| Offer::clone(offer)).collect()
    }
}

impl FromIterator<Arc<Offer>> for Offers {
    fn from_iter<I: IntoIterator<Item = Arc<Offer>>>(offers: I) -> Self {
        Self(offers.into_iter().collect())
    }
}

impl From<Vec<Offer>> for Offers {
    fn from(offers: Vec<Offer>) -> Self {
        offers.into_iter().map(Arc::new).collect()
    }
}

impl Serialize for Offers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|offer| &**offer))
    }
}

impl<'de> Deserialize<'de> for Offers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Offer>::deserialize(deserializer).map(Self::from)
    }
}
