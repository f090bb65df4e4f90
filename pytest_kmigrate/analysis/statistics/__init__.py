"""The mathematics of many runs: pure functions over arrays, without Spark; marts call them, calibration checks them."""
