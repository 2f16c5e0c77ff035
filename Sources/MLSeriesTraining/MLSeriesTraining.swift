// Fits models of time series and sound.
