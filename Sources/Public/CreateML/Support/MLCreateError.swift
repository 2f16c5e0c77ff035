public import Foundation
package import MLNumerics

/// What goes wrong while training.
public enum MLCreateError: Error, Sendable {
    /// A job was cancelled.
    case cancelled
    /// A session is asked to go on with data that are not those it was begun with.
    case modifiedTrainingData
    case generic(reason: String)
    /// A session is asked to go on with another value of a parameter.
    case incompatibleParameters(parameter: String, originalValue: String, newValue: String)
    /// Files.
    case io(reason: String)
    /// A column or value of a type that the task cannot use.
    case type(reason: String)
}

extension MLCreateError: LocalizedError, CustomNSError, CustomStringConvertible, CustomDebugStringConvertible {
    public static var errorDomain: String { MLCreateErrorDomain }

    public var errorCode: Int {
        switch self {
        case .generic: 0
        case .type: 1
        case .io: 2
        case .cancelled: 3
        case .modifiedTrainingData: 4
        case .incompatibleParameters: 5
        }
    }

    public var errorDescription: String? { description }

    public var failureReason: String? { description }

    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description]
    }

    public var description: String {
        switch self {
        case .cancelled: "Training was cancelled."
        case .modifiedTrainingData:
            "The training data are not those that the session was begun with; pass the same data, or another session "
                + "directory."
        case .generic(let reason), .io(let reason), .type(let reason): reason
        case .incompatibleParameters(let parameter, let originalValue, let newValue):
            "The session was begun with \(parameter) = \(originalValue), not \(newValue); pass the same value, or "
                + "another session directory."
        }
    }

    public var debugDescription: String { "MLCreateError: " + description }
}

extension MLCreateError {
    package init(_ error: ModelError) {
        switch error.code {
        case .io, .malformed: self = .io(reason: error.description)
        case .cancelled: self = .cancelled
        default: self = .generic(reason: error.description)
        }
    }

    /// What jobs fail with: errors of the modules below become `MLCreateError`s.
    package static func translated(_ error: any Error) -> any Error {
        switch error {
        case let error as ModelError: MLCreateError(error)
        case is CancellationError: MLCreateError.cancelled
        default: error
        }
    }

    /// Runs `body`, whose errors of the modules below become `MLCreateError`s.
    package static func translating<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw translated(error) }
    }
}
