/// The devices on which tensors are computed.
///
/// On Linux everything is computed by the processor, whatever the policy.
public struct MLComputePolicy: Hashable, Sendable {
    /// The policy of the current task.
    @TaskLocal package static var current = MLComputePolicy.cpuAndGPU

    let computeUnits: MLComputeUnits

    /// A policy that allows the given devices.
    public init(_ computeUnits: MLComputeUnits) { self.computeUnits = computeUnits }

    /// The processor, and a graphics processor where there is one.
    public static var cpuAndGPU: MLComputePolicy { MLComputePolicy(.cpuAndGPU) }
    /// The processor alone.
    public static var cpuOnly: MLComputePolicy { MLComputePolicy(.cpuOnly) }
}

extension MLComputePolicy: CustomStringConvertible, CustomReflectable {
    /// The devices.
    public var description: String { "MLComputePolicy(\(computeUnits))" }
    /// The devices as a child.
    public var customMirror: Mirror { Mirror(self, children: ["computeUnits": computeUnits], displayStyle: .struct) }
}

/// Calls a closure, in whose task tensors are computed on the devices of a policy.
///
/// - Parameters:
///   - computePolicy: The policy during the call; the previous one holds again afterwards.
///   - body: The closure to call.
/// - Returns: The result of `body`.
/// - Throws: Whatever `body` throws.
public func withMLTensorComputePolicy<Result>(
    _ computePolicy: MLComputePolicy,
    _ body: () throws -> Result
) rethrows -> Result {
    try MLComputePolicy.$current.withValue(computePolicy) { try body() }
}

/// Calls an asynchronous closure, in whose task tensors are computed on the devices of a policy.
///
/// - Parameters:
///   - computePolicy: The policy during the call; the previous one holds again afterwards.
///   - body: The closure to call.
/// - Returns: The result of `body`.
/// - Throws: Whatever `body` throws.
public func withMLTensorComputePolicy<R>(
    _ computePolicy: MLComputePolicy,
    _ body: () async throws -> R
) async rethrows -> R {
    try await MLComputePolicy.$current.withValue(computePolicy) { try await body() }
}
