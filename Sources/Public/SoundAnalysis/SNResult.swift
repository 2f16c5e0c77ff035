@_exported public import CoreML
@_exported public import CoreMedia

/// A question about a sound.
///
/// `SNClassifySoundRequest` is the only one; an analyzer refuses others.
public protocol SNRequest: NSObjectProtocol {}

/// An answer about a part of a sound.
public protocol SNResult: NSObjectProtocol {}

/// Receives the results of an analyzer, on the thread that analyses.
public protocol SNResultsObserving: NSObjectProtocol {
    /// Called with each result, in the order of time.
    func request(_ request: any SNRequest, didProduce result: any SNResult)
    /// Called when a request has failed, which ends it; does nothing by default.
    func request(_ request: any SNRequest, didFailWithError error: any Error)
    /// Called when a request has seen the whole sound; does nothing by default.
    func requestDidComplete(_ request: any SNRequest)
}

extension SNResultsObserving {
    /// Does nothing.
    public func request(_ request: any SNRequest, didFailWithError error: any Error) {}
    /// Does nothing.
    public func requestDidComplete(_ request: any SNRequest) {}
}

/// A class of sounds with its probability.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class SNClassification: NSObject, @unchecked Sendable {
    /// The name of the class.
    public let identifier: String
    /// The probability, 0…1.
    public let confidence: Double

    init(identifier: String, confidence: Double) { (self.identifier, self.confidence) = (identifier, confidence) }

    /// The class and its probability.
    open override var description: String { "\(identifier) (\(confidence))" }
}

/// The classes of a part of a sound.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class SNClassificationResult: NSObject, SNResult, @unchecked Sendable {
    /// Every class of the model, the most probable first.
    public let classifications: [SNClassification]
    /// The part of the sound: its start in the file or the stream, and the window's length.
    public let timeRange: CMTimeRange

    init(classifications: [SNClassification], timeRange: CMTimeRange) {
        (self.classifications, self.timeRange) = (classifications, timeRange)
    }

    /// The class of a name; `nil` if the model does not know it.
    public func classification(forIdentifier identifier: String) -> SNClassification? {
        classifications.first { $0.identifier == identifier }
    }

    /// The most probable class and the part of the sound.
    open override var description: String {
        "\(timeRange.start.seconds)–\(timeRange.end.seconds) s: \(classifications.first?.description ?? "nothing")"
    }
}

/// The lengths that a request's windows may have.
public enum SNTimeDurationConstraint: Sendable, Hashable {
    /// One of these lengths.
    case enumeratedDurations([CMTime])
    /// Any length in this range, both ends included.
    case durationRange(CMTimeRange)
}

/// A classifier that is part of Apple's systems.
public struct SNClassifierIdentifier: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String
    /// Makes an identifier of a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Apple's classifier of about 300 sounds, which does not exist here: requests with it throw.
    public static let version1 = SNClassifierIdentifier(rawValue: "SNClassifierIdentifierVersion1")
}
