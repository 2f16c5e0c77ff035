import Glibc
package import HummingbirdCore
package import Logging
package import NIOCore

/// Timers on the event loops of connections.
package protocol ConnectionTimers: Sendable {
    /// Calls `body` on an event loop after a time.  It is called on that event loop, and so is what it returns.
    ///
    /// - Returns: what cancels the timer; without effect when `body` was called.
    func schedule(in time: Duration, on eventLoop: any EventLoop, _ body: @escaping () -> Void) -> () -> Void
}

/// Timers by the clock of the event loop.
package struct EventLoopTimers: ConnectionTimers {
    package init() {}

    package func schedule(
        in time: Duration,
        on eventLoop: any EventLoop,
        _ body: @escaping () -> Void
    ) -> () -> Void {
        let task = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time), body)
        return { task.cancel() }
    }
}

/// The longest time that a client may keep the server waiting, and the timers that measure it.
package struct Patience: Sendable {
    package let duration: Duration
    private let timers: any ConnectionTimers

    package init(_ duration: Duration, timers: any ConnectionTimers = EventLoopTimers()) {
        (self.duration, self.timers) = (duration, timers)
    }

    /// Calls `body` on the channel's event loop when the time is over.
    ///
    /// - Returns: what cancels the call.
    fileprivate func schedule(_ context: ChannelHandlerContext, _ body: @escaping () -> Void) -> () -> Void {
        timers.schedule(in: duration, on: context.eventLoop, body)
    }
}

/// Ends connections whose clients keep the server waiting: each takes memory, and one of the possible connections.
///
/// It is the client's turn from the beginning of a connection, including its TLS handshake, and again whenever all its
/// requests have been answered, until its next request is complete. In each span of the server's patience that is its
/// turn, it must complete a request or send `minimumRate` on average. Bytes that the server does not read, because it
/// is busy, count for the client.
///
/// The handler is next to the socket; handlers that understand the bytes tell it of requests.
package final class SlowClientHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = IOData
    package typealias OutboundOut = IOData

    /// The least rate in bytes per second.
    private static let minimumRate = 500

    package let patience: Patience
    /// The number of complete requests, of all streams of the connection, that are not answered yet.
    private var requestsInHand = 0
    // Counters of the current span:
    private var receivedByteCount = 0
    private var hasEndedRequest = false
    /// Whether the server reads.
    private var isReading = false
    private var cancelTimer: (() -> Void)?

    package init(patience: Patience) { self.patience = patience }

    /// A request is complete.
    package func began() {
        requestsInHand += 1
        hasEndedRequest = true
    }

    /// It is answered, or nobody waits for the answer any more.
    package func ended() { requestsInHand -= 1 }

    package func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

    package func handlerRemoved(context: ChannelHandlerContext) { cancelTimer?() }

    package func channelInactive(context: ChannelHandlerContext) {
        cancelTimer?()
        context.fireChannelInactive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receivedByteCount += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    private func schedule(_ context: ChannelHandlerContext) {
        cancelTimer = patience.schedule(context) { self.look(context) }
    }

    /// Checks the client at the end of a span.
    private func look(_ context: ChannelHandlerContext) {
        let minimum = Double(Self.minimumRate) * (patience.duration / .seconds(1))
        let isServersTurn = requestsInHand > 0 || !isReading
        guard isServersTurn || hasEndedRequest || Double(receivedByteCount) >= minimum else {
            return context.close(promise: nil)
        }
        (receivedByteCount, hasEndedRequest) = (0, false)
        schedule(context)
    }
}

/// Detects a client that accepts nothing of an answer for the time of the server's patience.
package struct StallDetector {
    private struct Progress: Equatable {
        /// The number of bytes that the socket has not accepted.
        let bufferedByteCount: Int?
        /// The number of times there was room for more.
        let rooms: Int
    }

    let patience: Patience
    /// Whether the channel is the socket's own, which knows how much it has not accepted.
    let isSocket: Bool
    private var rooms = 0
    /// The state when there was no room; `nil` before a check.
    private var last: Progress?
    private var cancelTimer: (() -> Void)?

    package init(patience: Patience, isSocket: Bool) { (self.patience, self.isSocket) = (patience, isSocket) }

    /// Follows the channel's writability; `look` calls ``check(_:look:)`` after the server's patience.
    package mutating func writabilityChanged(_ context: ChannelHandlerContext, look: @escaping () -> Void) {
        if context.channel.isWritable {
            rooms += 1
        } else if cancelTimer == nil {
            begin(context, look)
        }
    }

    private mutating func begin(_ context: ChannelHandlerContext, _ look: @escaping () -> Void) {
        last = progress(context)
        cancelTimer = patience.schedule(context, look)
    }

    /// Whether the client has accepted nothing since the last check.
    package mutating func check(_ context: ChannelHandlerContext, look: @escaping () -> Void) -> Bool {
        cancelTimer = nil
        guard !context.channel.isWritable else { return false }
        if progress(context) == last { return true }
        begin(context, look)
        return false
    }

    package mutating func cancel() {
        cancelTimer?()
        cancelTimer = nil
    }

    private func progress(_ context: ChannelHandlerContext) -> Progress {
        let buffered = isSocket ? try? context.channel.syncOptions?.getOption(.bufferedWritableBytes) : nil
        return Progress(bufferedByteCount: buffered, rooms: rooms)
    }
}

/// A kind of connection with a `SlowClientHandler` in each.
package struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let patience: Patience

    package init(base: Base, patience: Patience) { (self.base, self.patience) = (base, patience) }

    /// The number of unsent bytes that the system buffers for a connection.
    ///
    /// The client's progress is then known to this number of bytes, and stalled connections use no more of the system's
    /// memory.
    private static var maximumUnsentByteCount: ChannelOptions.Types.SocketOption.Value { 128 << 10 }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SlowClientHandler(patience: patience))
            let unsent = ChannelOptions.Types.SocketOption(
                level: .tcp,
                name: .init(rawValue: TCP_NOTSENT_LOWAT)
            )
            try channel.syncOptions?.setOption(unsent, value: Self.maximumUnsentByteCount)
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    package func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
