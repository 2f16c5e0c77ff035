// Without a table the automatic split of the training data is used for validation.

extension MLLinearRegressor.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable? = nil,
        maxIterations: Int = 10,
        l1Penalty: Double = 0,
        l2Penalty: Double = 0.01,
        stepSize: Double = 1.0,
        convergenceThreshold: Double = 0.01,
        featureRescaling: Bool = true
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxIterations: maxIterations,
            l1Penalty: l1Penalty,
            l2Penalty: l2Penalty,
            stepSize: stepSize,
            convergenceThreshold: convergenceThreshold,
            featureRescaling: featureRescaling
        )
    }
}

extension MLDecisionTreeRegressor.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable? = nil,
        maxDepth: Int = 6,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed
        )
    }
}

extension MLBoostedTreeRegressor.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable? = nil,
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        stepSize: Double = 0.3,
        earlyStoppingRounds: Int? = nil,
        rowSubsample: Double = 1.0,
        columnSubsample: Double = 1.0
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            maxIterations: maxIterations,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed,
            stepSize: stepSize,
            earlyStoppingRounds: earlyStoppingRounds,
            rowSubsample: rowSubsample,
            columnSubsample: columnSubsample
        )
    }
}

extension MLRandomForestRegressor.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable? = nil,
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        rowSubsample: Double = 0.8,
        columnSubsample: Double = 0.8
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            maxIterations: maxIterations,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed,
            rowSubsample: rowSubsample,
            columnSubsample: columnSubsample
        )
    }
}

extension MLLogisticRegressionClassifier.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxIterations: Int = 10,
        l1Penalty: Double = 0,
        l2Penalty: Double = 0.01,
        stepSize: Double = 1.0,
        convergenceThreshold: Double = 0.01,
        featureRescaling: Bool = true
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxIterations: maxIterations,
            l1Penalty: l1Penalty,
            l2Penalty: l2Penalty,
            stepSize: stepSize,
            convergenceThreshold: convergenceThreshold,
            featureRescaling: featureRescaling
        )
    }
}

extension MLDecisionTreeClassifier.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxDepth: Int = 6,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed
        )
    }
}

extension MLBoostedTreeClassifier.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        stepSize: Double = 0.3,
        earlyStoppingRounds: Int? = nil,
        rowSubsample: Double = 1.0,
        columnSubsample: Double = 1.0
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            maxIterations: maxIterations,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed,
            stepSize: stepSize,
            earlyStoppingRounds: earlyStoppingRounds,
            rowSubsample: rowSubsample,
            columnSubsample: columnSubsample
        )
    }
}

extension MLRandomForestClassifier.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxDepth: Int = 6,
        maxIterations: Int = 10,
        minLossReduction: Double = 0,
        minChildWeight: Double = 0.1,
        randomSeed: Int = 42,
        rowSubsample: Double = 0.8,
        columnSubsample: Double = 0.8
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxDepth: maxDepth,
            maxIterations: maxIterations,
            minLossReduction: minLossReduction,
            minChildWeight: minChildWeight,
            randomSeed: randomSeed,
            rowSubsample: rowSubsample,
            columnSubsample: columnSubsample
        )
    }
}

extension MLSupportVectorClassifier.ModelParameters {
    /// Creates training parameters with a table of validation rows; see the properties of the same names.
    ///
    /// Without a table (`nil`) the automatic split of the training data is used.
    public init(
        validationData: MLDataTable?,
        maxIterations: Int = 11,
        penalty: Double = 1.0,
        convergenceThreshold: Double = 0.01,
        featureRescaling: Bool = true
    ) {
        self.init(
            validation: ValidationData(validationData),
            maxIterations: maxIterations,
            penalty: penalty,
            convergenceThreshold: convergenceThreshold,
            featureRescaling: featureRescaling
        )
    }
}
