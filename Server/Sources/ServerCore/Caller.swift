/// Where the request came from that is being answered.
public enum Caller {
    /// The address by which sign-ins are limited; `nil` for those of this machine.
    @TaskLocal public static var address: String?
}
