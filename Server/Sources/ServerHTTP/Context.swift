public import Hummingbird
import NIOCore
import ServerCore

/// What is known of a request while it is answered.
public struct Context: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The connection that the request came by.
    let channel: any Channel
    /// The address that the request came from: a proxy's, until `ForwardedAddress` has looked behind it.
    public internal(set) var remoteAddress: String
    /// Who asks, on routes that demand to know.
    var principal: Principal?
    /// What they proved it with.
    var credential: String?
    /// What a form of the dashboard must hold.
    var csrf: String?

    /// JSON bodies of requests; archives are streamed.
    public var maxUploadSize: Int { 1 << 20 }

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress?.ipAddress ?? "local"
    }

    /// Who asks; routes behind `Authentication` have it.
    var actor: Principal {
        get throws {
            guard let principal else {
                throw ServiceError(.unauthenticated, "This takes a token: send it as Authorization: Bearer mlk_….")
            }
            return principal
        }
    }
}
