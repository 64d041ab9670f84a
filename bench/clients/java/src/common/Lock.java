/** A lock of some library. What take returns belongs to the thread that took it: some libraries insist on that. */
interface Lock {
  /** One attempt: a handle, or null if it is held. */
  Object take(String name, long ttl) throws Exception;

  /** True if the library says so, or has nothing to say. */
  boolean release(Object handle) throws Exception;

  /** Extends to ttl, or, where the library cannot choose, to what it was. */
  default boolean extend(Object handle, long ttl) throws Exception {
    throw new UnsupportedOperationException();
  }

  default boolean extendsLocks() {
    return true;
  }

  /** Whether a holder whose time is over leaves the next one alone. */
  default boolean comparesTokens() {
    return true;
  }

  /** What the library makes of a name. */
  default String key(String name) {
    return name;
  }
}
