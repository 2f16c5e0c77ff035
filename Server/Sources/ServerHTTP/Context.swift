public import Hummingbird
import NIOCore
import ServerCore

/// The state of a request while it is answered.
public struct Context: RequestContext {
    /// Hummingbird's own state of the request.
    public var coreContext: CoreRequestContextStorage
    /// The connection that the request came over.
    let channel: any Channel
    /// The address of the client; that of a proxy until `ForwardedAddress` has looked behind it.
    public internal(set) var remoteAddress: String
    /// The identity behind the request, on routes that need one.
    var principal: Principal?
    /// The token or session that proves it.
    var credential: String?
    /// The token that forms of the dashboard must contain.
    var csrf: String?

    /// The largest JSON body in bytes, 1 MiB; archives are streamed.
    public var maxUploadSize: Int { 1 << 20 }

    /// Creates the state of a new request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress?.ipAddress ?? "local"
    }

    /// The identity behind the request; routes behind `Authentication` have it.
    var actor: Principal {
        get throws {
            guard let principal else {
                throw ServiceError(.unauthenticated, "This takes a token: send it as Authorization: Bearer mlk_….")
            }
            return principal
        }
    }
}
