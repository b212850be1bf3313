"""A recording run again through the engine with other settings: what would have been found when."""
