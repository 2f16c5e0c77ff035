package import DeploymentPolicy
import Foundation
import MLFiles

/// Records how releases perform on this device, and reports it in anonymous counts if the policy requires it.
///
/// Reports never affect models: one that cannot be recorded or sent is lost or sent later, and nothing else fails.
package struct Reporter: Sendable {
    let configuration: DeploymentConfiguration
    let store: CollectionStore
    let transport: any Transport
    let attributes: @Sendable () -> DeviceAttributes
    let now: @Sendable () -> Date

    private static let maximumResponseByteCount = 64 << 10

    private var seconds: Int { Int(now().timeIntervalSince1970) }

    // MARK: Noting

    /// Records events of a release; 0 stands for the models of the app bundle.
    package func note(_ events: DeviceReport.Event..., release: Int, of collection: String) {
        let day = seconds / 86_400
        // A disk without space loses the report and nothing else.
        try? store.changeReports(collection) { log in
            for event in events { log.note(event, release: release, day: day) }
        }
    }

    /// Records why a release could not be installed, if the release or the device is the cause.
    package func note(_ error: DeploymentError, release: Int, of collection: String) {
        guard let reason = error.code.reason else { return }
        note(.failed(reason), release: release, of: collection)
    }

    // MARK: Sending

    /// Sends recorded events, if this device is one of those that the policy selects.
    package func send(_ collection: String, to reporting: Reporting) async {
        let attributes = attributes()
        guard let installID = attributes.installID,
            Bucket.number(installID: installID, salt: "reports") < reporting.sampleRate,
            let state = try? store.state(collection)
        else { return }
        let running = DeviceReport.Running(
            release: state.current?.number ?? 0,
            place: SketchPlace(installID: installID, salt: "\(configuration.environment)/\(collection)")
        )
        let hour = seconds / 3600
        let report = try? store.changeReports(collection) { log in
            log.begin(running: running, hour: hour) {
                DeviceReport(
                    id: (0..<16).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max)) }.joined(),
                    operatingSystem: attributes.operatingSystem ?? "unknown",
                    deviceClass: attributes.deviceClass ?? .desktop
                )
            }
        }
        guard let report else { return }
        var request = TransportRequest(
            Addresses(configuration: configuration).path(reporting.path),
            limit: Self.maximumResponseByteCount
        )
        request.method = "POST"
        request.headers["Content-Type"] = "application/json"
        request.body = report.bytes()
        guard let answer = try? await transport.send(request), answer.isFinal else { return }
        try? store.changeReports(collection) { $0.end(report, hour: hour) }
    }
}

extension TransportAnswer {
    /// Whether sending the same again would change nothing: it was accepted, or never will be.
    fileprivate var isFinal: Bool { status < 500 && status != 408 && status != 429 }
}

extension DeploymentError.Code {
    /// The reason for the release's failure; `nil` for errors that are not the release's, such as the network's.
    fileprivate var reason: FailureSummary.Reason? {
        switch self {
        case .releaseMismatch, .releaseMissing, .releaseMalformed, .damaged: .verification
        case .storage: .activation
        case .load: .load
        case .selfTest: .selfTest
        case .slow: .slow
        case .crash: .crash
        case .key: .keyRelease
        case .configuration, .offline, .server, .busy, .metadata, .policySignature, .policyMismatch, .policyRollback,
            .policyExpired, .policyMalformed, .deferred, .cancelled:
            nil
        }
    }
}

extension CollectionStore {
    private func reportPath(_ collection: String) -> String { collectionFolder(collection) + "/reports.json" }

    /// Changes the log of a collection, alone among threads and processes.
    func changeReports<R>(_ collection: String, _ body: (inout ReportLog) -> R) throws(DeploymentError) -> R {
        try Durable.makeFolder(collectionFolder(collection))
        return try FileLock.with(collectionFolder(collection) + "/reports.lock") { () throws(DeploymentError) in
            let path = reportPath(collection)
            let stored = try Durable.read(path)
            // A damaged log is begun anew: it matters less than the app's models.
            let old = stored.flatMap { try? ReportLog(text: $0) } ?? ReportLog()
            var new = old
            let result = body(&new)
            if new != old { try Durable.write(new.text, to: path) }
            return result
        }
    }

    /// The log of a collection.
    package func reports(_ collection: String) throws(DeploymentError) -> ReportLog {
        try changeReports(collection) { $0 }
    }
}
