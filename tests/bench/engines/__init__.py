"""The marts on other engines, which a user of one machine would pick instead of Spark: same data, same answers."""
