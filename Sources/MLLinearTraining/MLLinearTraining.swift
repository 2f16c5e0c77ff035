// Fits linear models: linear and logistic regression, smoothed-hinge support vectors.
