import HTTPTypes
import NIOCore
import NIOHTTPTypes
import ServerSupport

/// Tells a connection's `SlowClientHandler` of complete requests and their answers, and ends connections whose clients
/// do not accept an answer.
final class SlowRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var slowClients: SlowClientHandler?
    private var stalls: StallDetector?
    /// Whether each request that is not answered yet is complete.
    private var open: [Bool] = []
    /// Whether the arriving request was answered before it was complete.
    private var isAnswered = false

    func handlerAdded(context: ChannelHandlerContext) {
        slowClients = try? context.channel.pipeline.syncOperations.handler(type: SlowClientHandler.self)
        stalls = slowClients.map { StallDetector(patience: $0.patience, isSocket: true) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: open.append(false)
        case .body: break
        case .end:
            if isAnswered {
                isAnswered = false
            } else if !open.isEmpty {
                open[open.count - 1] = true
                slowClients?.began()
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), !open.isEmpty {
            if open.removeFirst() { slowClients?.ended() } else { isAnswered = true }
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func leave() {
        for isWhole in open where isWhole { slowClients?.ended() }
        open = []
        stalls?.cancel()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalls?.writabilityChanged(context) { self.detectStall(context) }
        context.fireChannelWritabilityChanged()
    }

    private func detectStall(_ context: ChannelHandlerContext) {
        if stalls?.check(context, look: { self.detectStall(context) }) == true { context.close(promise: nil) }
    }
}
