import DeploymentPolicy
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServerCore
import ServerDatabase

/// A device's report that is read as it arrives on its connection, bypassing the routes.
struct ReportRequest {
    /// The path of reports.
    static let route: RouterPath = "/v1/apps/:app/environments/:environment/collections/:collection/reports"

    let destination: ReportDestination
    let start = ContinuousClock.now
    private(set) var bytes: [UInt8] = []

    /// Recognises a report; `nil` for other requests, and for those that the routes should answer.
    init?(_ request: HTTPRequest) {
        guard request.method == .post, request.headerFields[.expect] == nil, !request.isLast,
            let length = request.headerFields[.contentLength].flatMap({ Int($0) }),
            (0...DeviceReport.maximumByteCount).contains(length),
            let destination = request.path.flatMap({ Self.destination($0) })
        else { return nil }
        self.destination = destination
        bytes.reserveCapacity(length)
    }

    private static func destination(_ path: String) -> ReportDestination? {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 9, parts[0].isEmpty, parts[1].elementsEqual("v1".utf8),
            parts[2].elementsEqual("apps".utf8),
            parts[4].elementsEqual("environments".utf8), parts[6].elementsEqual("collections".utf8),
            parts[8].elementsEqual("reports".utf8)
        else { return nil }
        let names = [parts[3], parts[7], parts[5]]
        // The routes handle everything that could mean something else.
        guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isPlain) }) else { return nil }
        return ReportDestination(
            app: String(parts[3]) ?? "",
            collection: String(parts[7]) ?? "",
            environment: String(parts[5]) ?? ""
        )
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Appends a part of the body; false when it is too large.
    mutating func append(_ part: ByteBuffer) -> Bool {
        guard bytes.count + part.readableBytes <= DeviceReport.maximumByteCount else { return false }
        bytes.append(contentsOf: part.readableBytesView)
        return true
    }

    /// Reads a report.
    static func report(_ bytes: [UInt8]) throws(ServiceError) -> DeviceReport {
        do throws(PolicyError) { return try DeviceReport(bytes) } catch {
            throw ServiceError(.invalid, error.message, field: error.path)
        }
    }
}

extension Reception {
    /// A report that is about to arrive, to be passed to ``take(_:done:)`` when it is complete.
    func report(_ request: HTTPRequest, from peer: Peer) -> ReportRequest? {
        guard let report = ReportRequest(request), let path = request.path,
            limits.secondsToWait(.post, path, address: address(request, peer)) == nil
        else { return nil }
        return report
    }

    /// Stores a report; `done` gets the answer on any thread.
    func take(_ request: ReportRequest, done: @escaping @Sendable (PreparedAnswer) -> Void) {
        let report: DeviceReport
        do throws(ServiceError) { report = try ReportRequest.report(request.bytes) } catch {
            return done(recorded(ErrorAnswers.prepared(error), request.start))
        }
        service.take(report, at: request.destination) { [self, start = request.start] result in
            done(recorded(answer(to: result), start))
        }
    }

    private func answer(to result: Result<Void, any Error>) -> PreparedAnswer {
        switch result {
        case .success: return PreparedAnswer(.noContent, [:])
        case .failure(let error as ServiceError): return ErrorAnswers.prepared(error)
        case .failure(let error):
            logger.error("\(error)")
            return ErrorAnswers.prepared(ErrorAnswers.noDatabase)
        }
    }

    private func recorded(_ answer: PreparedAnswer, _ start: ContinuousClock.Instant) -> PreparedAnswer {
        measurements.note("POST", ReportRequest.route.description, answer.head.status.code, .now - start)
        return dated(answer)
    }
}
