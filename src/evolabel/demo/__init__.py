"""The demonstration: a plant is learned beside rivals, and a page shows what was found beside the truth."""
