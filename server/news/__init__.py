"""News: the catalog that learners choose from, and the daily gathering that fills it."""
