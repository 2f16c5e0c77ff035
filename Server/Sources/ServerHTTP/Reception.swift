import Foundation
import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
public import ServerCore
package import ServerSupport
import Synchronization

/// The state that all connections of a server share.
///
/// It answers the most frequent requests of devices immediately, and sends devices away when too many requests wait.
/// Documents that have not changed are answered on the connection's event loop, with the answers that their routes
/// made, and reports are accepted there; all other requests go through the router. Limits by address, counts of
/// requests, and checks of reports are the same code for both ways.
public final class Reception: Sendable {
    /// The settings of a reception.
    public struct Options: Sendable {
        /// The number of waiting requests at which further devices are told to come later.
        public var maximumQueueLength = 4096
        /// Whether the system sends files by itself; impossible over TLS, whose records the server makes.
        public var sendsFiles = false
        /// The longest time that a client may keep the server waiting: between or within requests, or for accepting an
        /// answer.
        public var patience = Duration.seconds(60)
        /// The timers by which patience is measured.
        package var timers: any ConnectionTimers = EventLoopTimers()
        /// The seconds, from any origin, by which requests are limited.
        package var uptime: @Sendable () -> Double = RateLimits.uptime
        /// The value of the header `Server`; `nil` for none.
        public var serverName: String?

        /// Creates the default settings.
        public init() {}
    }

    let limits: RateLimits
    let sendsFiles: Bool
    let patience: Patience
    let service: Service
    let logger: Logger
    private let options: Options
    private let proxies: TrustedProxies?
    let measurements: Measurements
    private let waiting = Atomic(0)
    private let documents = Mutex<[String: CachedAnswers]>([:])
    private let dates = DateHeader()

    /// Creates a reception.
    ///
    /// - Parameters:
    ///   - service: the service that answers.
    ///   - proxies: the machines whose statements about the origin of requests are trusted; `nil`, the default, for
    ///     none.
    ///   - options: the settings.
    ///   - measurements: counts the answers, by default those of the process.
    ///   - logger: logs failures.
    public init(
        _ service: Service,
        proxies: TrustedProxies? = nil,
        options: Options = Options(),
        measurements: Measurements = .shared,
        logger: Logger = Logger(label: "coreml-server")
    ) {
        self.logger = logger
        self.service = service
        self.options = options
        self.measurements = measurements
        self.proxies = proxies.flatMap { $0.isEmpty ? nil : $0 }
        limits = RateLimits(now: options.uptime)
        sendsFiles = options.sendsFiles
        patience = Patience(options.patience, timers: options.timers)
    }

    /// The number of requests that wait for their answers: one of each connection at most.
    public var waitingRequests: Int { waiting.load(ordering: .relaxed) }

    func began() { waiting.add(1, ordering: .relaxed) }
    func ended() { waiting.subtract(1, ordering: .relaxed) }

    // MARK: Answers

    /// The answer to a request that needs no look-up; `nil` for requests that the routes answer.
    func answer(_ request: HTTPRequest, from peer: Peer) -> PreparedAnswer? {
        guard let path = request.path, path.hasPrefix("/v1/") || path.hasPrefix("/b/") else { return nil }
        // The routes answer clients that close the connection, or wait for a word before the body.
        if request.method == .get, request.headerFields[.expect] == nil, !request.isLast,
            let answer = document(path, request, peer)
        {
            return answer
        }
        guard waitingRequests >= options.maximumQueueLength else { return nil }
        // The duration of a refusal says nothing about the duration of answers.
        measurements.note(request.method.rawValue, "busy", 503, nil)
        return dated(Self.busy(isLast: request.isLast))
    }

    /// An answer that tells a device to come later, at a random time.
    private static func busy(isLast: Bool) -> PreparedAnswer {
        var answer = ErrorAnswers.prepared(
            ServiceError(
                .unavailable,
                "The server is overloaded.",
                retryAfter: Int.random(in: 30...90)
            )
        )
        if isLast { answer.head.headerFields[.connection] = "close" }
        return answer
    }

    func dated(_ answer: PreparedAnswer) -> PreparedAnswer {
        var answer = answer
        answer.head.headerFields[.date] = dates.text
        if let name = options.serverName { answer.head.headerFields[.server] = name }
        return answer
    }

    // MARK: Documents

    /// The largest number of documents that are kept at once.
    private static let maximumDocumentCount = 4096

    /// Keeps the answers about a document at `path` while it is current; `route` is its name in measurements.
    func keep(_ answers: DocumentAnswers, at path: String, route: String?) {
        let kept = CachedAnswers(answers: answers, route: route ?? "none")
        documents.withLock { documents in
            if documents.count >= Self.maximumDocumentCount, documents[path] == nil {
                documents = documents.filter { service.isCurrent($0.value.answers.found) }
                if documents.count >= Self.maximumDocumentCount { documents.removeAll() }
            }
            documents[path] = kept
        }
    }

    private func document(_ path: String, _ request: HTTPRequest, _ peer: Peer) -> PreparedAnswer? {
        let start = ContinuousClock.now
        let date = dates.text
        let known = documents.withLock { documents -> (CachedAnswers.Dated, CachedAnswers)? in
            guard let kept = documents[path], service.isCurrent(kept.answers.found) else { return nil }
            if let dated = kept.dated, dated.date == date { return (dated, kept) }
            let dated = CachedAnswers.Dated(
                date: date,
                whole: self.dated(kept.answers.whole),
                unchanged: kept.answers.unchanged.map { self.dated($0) }
            )
            documents[path]?.dated = dated
            return (dated, kept)
        }
        guard let (dated, kept) = known,
            limits.secondsToWait(.get, path, address: address(request, peer)) == nil
        else { return nil }
        let isKnown = kept.answers.isKnown(to: request.headerFields[.ifNoneMatch])
        let answer = isKnown ? dated.unchanged ?? dated.whole : dated.whole
        measurements.note("GET", kept.route, answer.head.status.code, .now - start)
        return answer
    }

    /// The address that a request is limited by.
    func address(_ request: HTTPRequest, _ peer: Peer) -> String? {
        guard let proxies, let name = HTTPField.Name("X-Forwarded-For") else { return peer.limited }
        return IPAddress.limited(proxies.client(of: peer.address, request.headerFields[values: name]))
    }

    private struct CachedAnswers {
        /// The answers with the date of a second.
        struct Dated {
            let date: String
            let whole: PreparedAnswer
            let unchanged: PreparedAnswer?
        }

        let answers: DocumentAnswers
        let route: String
        var dated: Dated?
    }
}

/// The other end of a connection.
struct Peer {
    let address: String
    /// The unit that requests are limited by; `nil` for those that are not limited.
    let limited: String?

    init(_ channel: any Channel) {
        address = channel.remoteAddress?.ipAddress ?? "local"
        limited = IPAddress.limited(address)
    }
}

/// The answers to requests for a document.
struct DocumentAnswers: Sendable {
    let found: FoundDocument
    /// The document, or an error that there is none.
    let whole: PreparedAnswer
    /// The answer to clients that have it already.
    let unchanged: PreparedAnswer?

    /// Prepares the answers; `caching` is the value of `Cache-Control`.
    init(_ found: FoundDocument, caching: String, missing: ServiceError) {
        self.found = found
        whole =
            found.document.map { Self.whole($0, caching: caching) } ?? ErrorAnswers.prepared(missing)
        unchanged = found.document.map { Self.unchanged($0, caching: caching) }
    }

    private static func whole(_ document: TaggedDocument, caching: String) -> PreparedAnswer {
        let headers: HTTPFields = [
            .contentType: "application/json", .eTag: document.tag, .cacheControl: caching,
            .contentLength: String(document.bytes.count),
        ]
        return PreparedAnswer(.ok, headers, document.bytes)
    }

    private static func unchanged(_ document: TaggedDocument, caching: String) -> PreparedAnswer {
        PreparedAnswer(.notModified, [.eTag: document.tag, .cacheControl: caching])
    }

    /// The answer about a document that is not kept.
    static func answer(_ document: TaggedDocument, caching: String, to request: Request) -> PreparedAnswer {
        request.headers[.ifNoneMatch] == document.tag
            ? unchanged(document, caching: caching) : whole(document, caching: caching)
    }

    /// Whether a request's `If-None-Match` names the document.
    func isKnown(to tag: String?) -> Bool { tag != nil && tag == found.document?.tag }

    func answer(to request: Request) -> Response {
        (isKnown(to: request.headers[.ifNoneMatch]) ? unchanged ?? whole : whole).response
    }
}

/// The date as responses contain it (RFC 9110, section 5.6.7), made once a second.
private final class DateHeader: Sendable {
    private let last = Mutex<(second: Int, text: String)>((0, ""))

    var text: String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = (second, Self.text(second)) }
            return last.text
        }
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func text(_ second: Int) -> String {
        var (second, parts) = (second, tm())
        gmtime_r(&second, &parts)
        func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(1900 + parts.tm_year) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec)) GMT"
    }
}
