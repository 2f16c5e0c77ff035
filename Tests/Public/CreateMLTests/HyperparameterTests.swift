import CreateML
import Foundation
import Testing

@Suite struct HyperparameterTests {
    /// The settings in a session's file; sessions of earlier versions have the same bytes.
    @Test(arguments: [
        (
            MLDecisionTreeClassifier.ModelParameters.standard,
            #"{"trees":{"_0":{"columnSubsample":1,"kind":"decisionTree","maxDepth":6,"maxIterations":1,"#
                + #""minChildWeight":0.1,"minLossReduction":0,"randomSeed":42,"rowSubsample":1,"stepSize":1}}}"#
        ),
        (
            MLBoostedTreeRegressor.ModelParameters(validation: .none, randomSeed: -7, earlyStoppingRounds: 4).settings,
            #"{"trees":{"_0":{"columnSubsample":1,"earlyStoppingRounds":4,"kind":"boostedTree","maxDepth":6,"#
                + #""maxIterations":10,"minChildWeight":0.1,"minLossReduction":0,"randomSeed":-7,"rowSubsample":1,"#
                + #""stepSize":0.3}}}"#
        ),
        (
            MLRandomForestRegressor.ModelParameters.standard,
            #"{"trees":{"_0":{"columnSubsample":0.8,"kind":"randomForest","maxDepth":6,"maxIterations":10,"#
                + #""minChildWeight":0.1,"minLossReduction":0,"randomSeed":42,"rowSubsample":0.8,"stepSize":1}}}"#
        ),
        (
            MLSupportVectorClassifier.ModelParameters.standard,
            #"{"linear":{"_0":{"convergenceThreshold":0.01,"featureRescaling":true,"kind":"supportVector","#
                + #""l1Penalty":0,"l2Penalty":0.01,"maxIterations":11,"penalty":1,"stepSize":1}}}"#
        ),
    ])
    func `Settings keep their bytes in sessions`(_ settings: LearnerSettings, _ text: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(settings), as: UTF8.self) == text)
        #expect(try JSONDecoder().decode(LearnerSettings.self, from: Data(text.utf8)) == settings)
    }

    @Test func `The defaults of initializers are those of the settings`() {
        func check<P: TabularParameters>(_ literal: P, _ table: P) {
            #expect(P().settings == P.standard)
            #expect(literal.settings == P.standard)
            #expect(table.settings == P.standard)
            #expect(P().description == table.description)
            #expect(P().description == literal.description)
        }
        check(
            MLBoostedTreeClassifier.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
        check(
            MLBoostedTreeRegressor.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
        check(
            MLDecisionTreeClassifier.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
        check(
            MLRandomForestRegressor.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
        check(MLLinearRegressor.ModelParameters(validation: .split(strategy: .automatic)), .init(validationData: nil))
        check(
            MLLogisticRegressionClassifier.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
        check(
            MLSupportVectorClassifier.ModelParameters(validation: .split(strategy: .automatic)),
            .init(validationData: nil)
        )
    }

    @Test func `Each value that is set is described, and the others are not there`() throws {
        var parameters = MLRandomForestClassifier.ModelParameters(validation: .none)
        (parameters.maxDepth, parameters.maxIterations, parameters.minLossReduction) = (3, 4, 0.5)
        (parameters.minChildWeight, parameters.randomSeed) = (2, 9)
        (parameters.rowSubsample, parameters.columnSubsample) = (0.25, 0.75)
        #expect(
            parameters.description == """
                maxDepth: 3
                maxIterations: 4
                minLossReduction: 0.5
                minChildWeight: 2.0
                randomSeed: 9
                rowSubsample: 0.25
                columnSubsample: 0.75
                validation: none
                """
        )
        var settings = parameters.settings
        settings.set(.named("l1Penalty"), to: .number(3))
        #expect(settings == parameters.settings)
        #expect(settings[.named("l1Penalty")] == nil)
        settings.set(.named("maxDepth"), to: .integer(8))
        #expect(settings[.named("maxDepth")] == .integer(8))
    }
}
