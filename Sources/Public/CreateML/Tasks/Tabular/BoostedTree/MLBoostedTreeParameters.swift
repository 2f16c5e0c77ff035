import MLTreeTraining

/// The parameters of gradient-boosted trees, for the classifier or the regressor `Task`.
public struct MLBoostedTreeParameters<Task>: MLTabularParameters {
    /// The rows that the model is validated on during and after training.
    public var validation: ValidationData
    var trees: TreeSettings

    /// The maximum depth of a tree in levels of splits, 1 to 24; 6 by default.
    public var maxDepth: Int {
        get { trees.growing.maxDepth }
        set { trees.growing.maxDepth = newValue }
    }
    /// The number of boosting rounds, at least 1; 10 by default.
    ///
    /// A round adds one tree, or one for each class if there are more than two.
    public var maxIterations: Int {
        get { trees.maxIterations }
        set { trees.maxIterations = newValue }
    }
    /// The minimum loss reduction (gamma) of a split, at least 0; 0 by default.
    ///
    /// Grown trees are pruned from the leaves up: a split that reduces the loss by less is removed.
    public var minLossReduction: Double {
        get { trees.growing.minLossReduction }
        set { trees.growing.minLossReduction = newValue }
    }
    /// The minimum child weight, at least 0; 0.1 by default.
    ///
    /// It is the least sum of second derivatives of the loss (the Hessian) on either side of a split.
    public var minChildWeight: Double {
        get { trees.growing.minChildWeight }
        set { trees.growing.minChildWeight = newValue }
    }
    /// The seed of row and column sampling, 42 by default; equal seeds give equal trees.
    public var randomSeed: Int {
        get { trees.randomSeed }
        set { trees.randomSeed = newValue }
    }
    /// The learning rate (shrinkage) that scales every tree's leaves, above 0 and at most 1; 0.3 by default.
    public var stepSize: Double {
        get { trees.growing.stepSize }
        set { trees.growing.stepSize = newValue }
    }
    /// The number of rounds without a lower validation loss after which training stops; `nil` by default.
    ///
    /// The model then has the trees up to the round with the lowest validation loss; `nil` never stops early. Training
    /// throws an error if the number is below 1 or there are no validation rows.
    public var earlyStoppingRounds: Int? {
        get { trees.earlyStoppingRounds }
        set { trees.earlyStoppingRounds = newValue }
    }
    /// The fraction of the rows sampled, without replacement, for each tree, above 0 and at most 1; 1 by default.
    public var rowSubsample: Double {
        get { trees.growing.rowSubsample }
        set { trees.growing.rowSubsample = newValue }
    }
    /// The fraction of the columns sampled, without replacement, for each tree, above 0 and at most 1; 1 by default.
    public var columnSubsample: Double {
        get { trees.growing.columnSubsample }
        set { trees.growing.columnSubsample = newValue }
    }

    /// Creates training parameters; see the properties of the same names.
    ///
    /// Training throws an error if a value is out of its range.
    public init(
        validation: ValidationData = .split(strategy: .automatic),
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
        self.init(Self.standard, validation)
        self.maxDepth = maxDepth
        self.maxIterations = maxIterations
        self.minLossReduction = minLossReduction
        self.minChildWeight = minChildWeight
        self.randomSeed = randomSeed
        self.stepSize = stepSize
        self.earlyStoppingRounds = earlyStoppingRounds
        self.rowSubsample = rowSubsample
        self.columnSubsample = columnSubsample
    }

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

extension MLBoostedTreeParameters: TreeParameters {
    static var kind: TreeSettings.Kind { .boostedTree }

    init(trees: TreeSettings, validation: ValidationData) {
        self.trees = trees
        self.validation = validation
    }
}
