/// The origin of the request that is being answered.
public enum Caller {
    /// The address by which sign-ins are limited; `nil` for requests from this machine.
    @TaskLocal public static var address: String?
}
