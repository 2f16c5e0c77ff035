import CoreML
import Foundation
import MLEngine
import MLFeatureFiles
import MLModels
import MLNumerics
import MLRuntime

/// A step of a model's plan as JSON.
private struct StepText: Encodable {
    let operation: String
    let kernel: String
    let shapes: [[Int]]
    let source: String
    var milliseconds: Double?
}

/// A plan, with times or without, as JSON.
private struct PlanReport: Encodable {
    var steps: [StepText]
    var arenaBytes = 0
    var scratchBytes = 0
}

extension MLModel {
    /// Checked inputs from slots, or, without slots, inputs that are the same every time.
    fileprivate func exampleInputs(_ slots: UnsafeMutableRawPointer?) throws -> [String: FeatureData] {
        if let slots { return try engineInputs(readFeatures(of: modelDescription, from: slots)) }
        do throws(ModelError) {
            return try SampleFeatures.features(of: engine.interface)
        } catch {
            throw MLModelError(error)
        }
    }

    fileprivate func plan(for features: [String: FeatureData]) throws(ModelError) -> PlanReport {
        guard let graph = engine as? GraphEngine else {
            return PlanReport(
                steps: PredictionProfile.stages(of: engine).map {
                    StepText(operation: "\(type(of: $0.engine))", kernel: "", shapes: [], source: $0.name)
                }
            )
        }
        let outline = try graph.executable.outline(
            for: try graph.makeState().update { (buffers: inout [String: Tensor]) throws(ModelError) in
                try graph.graphInputs(features, buffers)
            }
        )
        var report = PlanReport(steps: [])
        add(outline, to: &report)
        for plan in outline.plans {
            report.arenaBytes += plan.arenaByteCount
            report.scratchBytes += plan.scratchByteCount
        }
        return report
    }

    private func add(_ outline: ProgramOutline, to report: inout PlanReport) {
        for part in outline.parts {
            switch part {
            case .plan(let plan):
                report.steps += plan.steps.map {
                    StepText(operation: $0.operatorName, kernel: $0.kernelName, shapes: $0.shapes, source: $0.location)
                }
            case .operation(let operation):
                report.steps.append(
                    StepText(
                        operation: operation.name,
                        kernel: operation.bodies.isEmpty ? "reference" : "",
                        shapes: operation.shapes,
                        source: operation.location
                    )
                )
                for body in operation.bodies {
                    if case .success(let inner) = body.outline { add(inner, to: &report) }
                }
            }
        }
    }

    fileprivate func profile(_ features: [String: FeatureData], runs: Int) throws(ModelError) -> PlanReport {
        PlanReport(
            steps: try PredictionProfile(of: engine, for: features, runs: runs).entries.map {
                StepText(
                    operation: $0.operation,
                    kernel: $0.kernel,
                    shapes: $0.shapes,
                    source: $0.location,
                    milliseconds: $0.nanoseconds / 1e6
                )
            }
        )
    }
}

/// The steps of a model's plan for the inputs in slots, or for sample inputs when `inputs` is `nil`, as JSON.
///
/// With `runs` above 0 each step has the median of its times over so many predictions.
@c(coreml_model_plan)
public func modelPlan(
    _ model: UnsafeMutableRawPointer,
    _ inputs: UnsafeMutableRawPointer?,
    _ runs: Int,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reportingCode(failure) {
        let model = object(model, as: MLModel.self)
        let features = try model.exampleInputs(inputs)
        do throws(ModelError) {
            let report = try runs > 0 ? model.profile(features, runs: runs) : model.plan(for: features)
            return report
        } catch {
            throw MLModelError(error)
        }
    }
    .flatMap { (report: PlanReport) in reportingCode(failure) { try json(report) } }
}
