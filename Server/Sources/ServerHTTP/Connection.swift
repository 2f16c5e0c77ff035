import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import ServerSupport

/// The handler between a connection's bytes and the routes: asks `Reception` first, and sends files.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request that the routes are answering.
    private struct OpenRequest {
        /// Whether it asks only for a head.
        let isForHead: Bool
        var isWhole = false
        /// Whether its answer has begun.
        var isAnswered = false
    }

    private let reception: Reception
    private var peer: Peer?
    /// The open requests in their order.
    private var open: [OpenRequest] = []
    /// Whether the connection is among those that wait: the routes answer its requests one after the other.
    private var isWaiting = false
    /// Whether arriving parts belong to a request that was answered here.
    private var isAnswered = false

    /// The handler that is told of requests; a stream of HTTP/2 tells that of the connection that carries it.
    private var slowClients: SlowClientHandler?
    private var stalls: StallDetector?

    /// A report that is arriving.
    private var report: ReportRequest?
    /// Whether a report is being stored, which is answered before anything else is read.
    private var isStoring = false
    /// The parts that arrived meanwhile: only those already under way, since nothing more is read.
    private var held = CircularBuffer<HTTPRequestPart>()
    private var isReadHeld = false

    init(_ reception: Reception) { self.reception = reception }

    func handlerAdded(context: ChannelHandlerContext) {
        func find(_ channel: any Channel) -> SlowClientHandler? {
            try? channel.pipeline.syncOperations.handler(type: SlowClientHandler.self)
        }
        let own = find(context.channel)
        slowClients = own ?? context.channel.parent.flatMap { $0.eventLoop.inEventLoop ? find($0) : nil }
        stalls = slowClients.map { StallDetector(patience: $0.patience, isSocket: own != nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isStoring { held.append(part) } else { take(part, context) }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request): if answersDirectly(request, context) { return }
        case .body(let bytes):
            if isAnswered { return }
            if report != nil {
                // The parser passes at most the length in the head, which is not too large.
                if report?.append(bytes) == false { context.close(promise: nil) }
                return
            }
        case .end:
            slowClients?.began()
            if isAnswered {
                isAnswered = false
                slowClients?.ended()
                return
            }
            if let report { return store(report, context) }
            if open.isEmpty {
                // It was answered before it was complete.
                slowClients?.ended()
            } else {
                open[open.count - 1].isWhole = true
            }
            countWaiting()
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Whether the request is answered here rather than by the routes.
    private func answersDirectly(_ request: HTTPRequest, _ context: ChannelHandlerContext) -> Bool {
        if let answer = answer(request, context) {
            isAnswered = true
            write(answer, to: request, context)
            return true
        }
        if open.isEmpty, context.channel.isWritable, let peer { report = reception.report(request, from: peer) }
        guard report == nil else { return true }
        open.append(OpenRequest(isForHead: request.method == .head))
        return false
    }

    /// The prepared answer to a request, if it can be sent at once.
    ///
    /// Answers are sent in the order of requests, and not faster than the client accepts them; otherwise the routes
    /// answer, which wait.
    private func answer(_ request: HTTPRequest, _ context: ChannelHandlerContext) -> PreparedAnswer? {
        guard open.isEmpty, context.channel.isWritable else { return nil }
        let peer = peer ?? Peer(context.channel)
        self.peer = peer
        return reception.answer(request, from: peer)
    }

    private func write(_ answer: PreparedAnswer, to request: HTTPRequest, _ context: ChannelHandlerContext) {
        write(answer, withBody: request.method != .head, context)
        // Earlier answers are sent before.
        if request.isLast { context.close(promise: nil) }
    }

    private func write(_ answer: PreparedAnswer, withBody: Bool = true, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        if withBody, answer.bytes.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(answer.bytes)), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind != .informational && !open.isEmpty: open[0].isAnswered = true
        // An answer to HEAD ends where its body would begin (RFC 9110, section 9.3.2).
        case .body where open.first?.isForHead == true:
            promise?.succeed()
            return
        case .end: if !open.isEmpty, open.removeFirst().isWhole { slowClients?.ended() }
        default: break
        }
        countWaiting()
        context.write(data, promise: promise)
    }

    /// Counts the connection as waiting once its request is complete; until then the server waits for it.
    private func countWaiting() {
        let waits = isStoring || open.first.map { $0.isWhole && !$0.isAnswered } ?? false
        guard waits != isWaiting else { return }
        isWaiting = waits
        if waits { reception.began() } else { reception.ended() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func leave() {
        for request in open where request.isWhole { slowClients?.ended() }
        if isStoring { slowClients?.ended() }
        (open, report, isStoring) = ([], nil, false)
        held.removeAll()
        countWaiting()
        stalls?.cancel()
    }

    // MARK: Reports

    private func store(_ report: ReportRequest, _ context: ChannelHandlerContext) {
        self.report = nil
        isStoring = true
        countWaiting()
        let here = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        reception.take(report) { answer in
            here.eventLoop.execute { here.value.handler.stored(answer, here.value.context) }
        }
    }

    private func stored(_ answer: PreparedAnswer, _ context: ChannelHandlerContext) {
        // Otherwise the connection has ended.
        guard isStoring else { return }
        isStoring = false
        countWaiting()
        write(answer, context)
        slowClients?.ended()
        guard !held.isEmpty || isReadHeld else { return }
        while !isStoring, let part = held.popFirst() { take(part, context) }
        guard !isStoring else { return }
        context.fireChannelReadComplete()
        if isReadHeld {
            isReadHeld = false
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if isStoring { isReadHeld = true } else { context.read() }
    }

    // MARK: Slow clients

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalls?.writabilityChanged(context) { self.detectStall(context) }
        context.fireChannelWritabilityChanged()
    }

    private func detectStall(_ context: ChannelHandlerContext) {
        if stalls?.check(context, look: { self.detectStall(context) }) == true { context.close(promise: nil) }
    }

    // MARK: Files

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let piece = event as? FilePiece else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        do {
            // `HTTPResponsePart` cannot contain a file; the part that its codec makes of it can.
            let codec = try context.pipeline.syncOperations.context(handlerType: HTTP1ToHTTPServerCodec.self)
            codec.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.fileRegion(piece.region))), promise: promise)
        } catch { promise?.fail(error) }
    }
}

extension HTTPRequest {
    /// Whether the client wants the connection closed after the answer.
    var isLast: Bool { headerFields[.connection]?.lowercased() == "close" }
}

/// A part of a file that is the next part of an answer's body.
struct FilePiece: Sendable {
    let region: FileRegion
}

extension Reception {
    /// The configuration of HTTP/1.1 on each connection.
    var http1: HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(additionalChannelHandlers: [ConnectionHandler(self)])
    }
}
