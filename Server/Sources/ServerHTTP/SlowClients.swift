import Glibc
import HummingbirdCore
import Logging
import NIOCore

/// Ends connections whose clients let the server wait: each takes memory, and one of the connections that there may be.
///
/// A client has its turn from the beginning of a connection, its TLS handshake too, and again whenever all that it asked for is
/// answered, until its next request is whole.  In each span of the server's patience that is its turn it must end a request or
/// send `leastRate` on average.  What the server does not read, because it has enough to do, counts for the client.
///
/// It stands next to the socket; those who know what the bytes mean tell it of requests.
final class SlowClientHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Bytes a second.
    private static let leastRate = 500

    let patience: Duration
    /// Requests, of all streams of the connection, that are whole and not answered to the end.
    private var requestsInHand = 0
    // Of this span:
    private var receivedByteCount = 0
    private var hasEndedRequest = false
    /// Whether the server takes what comes.
    private var isReading = false
    private var task: Scheduled<Void>?

    init(patience: Duration) { self.patience = patience }

    /// A request is whole.
    func began() {
        requestsInHand += 1
        hasEndedRequest = true
    }

    /// It is answered, or nobody waits for the answer any more.
    func ended() { requestsInHand -= 1 }

    func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

    func handlerRemoved(context: ChannelHandlerContext) { task?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        task?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receivedByteCount += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    private func schedule(_ context: ChannelHandlerContext) {
        task = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience)) { self.look(context) }
    }

    /// At the end of a span.
    private func look(_ context: ChannelHandlerContext) {
        let least = Double(Self.leastRate) * (patience / .seconds(1))
        let isServersTurn = requestsInHand > 0 || !isReading
        guard isServersTurn || hasEndedRequest || Double(receivedByteCount) >= least else {
            return context.close(promise: nil)
        }
        (receivedByteCount, hasEndedRequest) = (0, false)
        schedule(context)
    }
}

/// Notices when a client takes nothing of an answer for as long as the server's patience lasts.
struct StallDetector {
    private struct Progress: Equatable {
        /// Bytes that the socket has not taken.
        let bufferedByteCount: Int?
        /// How often there was room for more.
        let rooms: Int
    }

    let patience: Duration
    /// Whether the channel is the socket's own, which tells how much it has not taken.
    let isSocket: Bool
    private var rooms = 0
    /// When there was no room and nobody looked yet.
    private var last: Progress?
    private var task: Scheduled<Void>?

    init(patience: Duration, isSocket: Bool) { (self.patience, self.isSocket) = (patience, isSocket) }

    /// - Parameter look: calls `check`, after the server's patience.
    mutating func writabilityChanged(_ context: ChannelHandlerContext, look: @escaping () -> Void) {
        if context.channel.isWritable {
            rooms += 1
        } else if task == nil {
            begin(context, look)
        }
    }

    private mutating func begin(_ context: ChannelHandlerContext, _ look: @escaping () -> Void) {
        last = progress(context)
        task = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience), look)
    }

    /// - Returns: whether the client has taken nothing since the last look.
    mutating func check(_ context: ChannelHandlerContext, look: @escaping () -> Void) -> Bool {
        task = nil
        guard !context.channel.isWritable else { return false }
        if progress(context) == last { return true }
        begin(context, look)
        return false
    }

    mutating func cancel() {
        task?.cancel()
        task = nil
    }

    private func progress(_ context: ChannelHandlerContext) -> Progress {
        let buffered = isSocket ? try? context.channel.syncOptions?.getOption(.bufferedWritableBytes) : nil
        return Progress(bufferedByteCount: buffered, rooms: rooms)
    }
}

/// A kind of connection with a `SlowClientHandler` in each.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let patience: Duration

    /// How many bytes that are not on their way the system keeps of a connection.  What a client has taken is then known to this
    /// many bytes, and connections that stand still cost no more of the system's memory.
    private static var mostUnsentByteCount: ChannelOptions.Types.SocketOption.Value { 128 << 10 }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SlowClientHandler(patience: patience))
            let unsent = ChannelOptions.Types.SocketOption(
                level: .tcp,
                name: .init(rawValue: TCP_NOTSENT_LOWAT)
            )
            try channel.syncOptions?.setOption(unsent, value: Self.mostUnsentByteCount)
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
