import java.util.List;
import java.util.UUID;

/** SET NX PX and the two scripts of the Redis documentation, as applications write them without a lock library. */
final class ClassicLock implements Lock {
  /** What a client library has to be able to do. */
  interface Client {
    String set(String key, String token, long ttl);

    Object eval(String script, List<String> keys, List<String> args);
  }

  static final String RELEASE = """
      if redis.call("get", KEYS[1]) == ARGV[1] then
        return redis.call("del", KEYS[1])
      else
        return 0
      end""";
  static final String EXTEND = """
      if redis.call("get", KEYS[1]) == ARGV[1] then
        return redis.call("pexpire", KEYS[1], ARGV[2])
      else
        return 0
      end""";

  private record Handle(String key, String token) {}

  private final Client client;

  ClassicLock(Client client) {
    this.client = client;
  }

  @Override
  public Object take(String name, long ttl) {
    String token = UUID.randomUUID().toString();
    return "OK".equals(client.set(name, token, ttl)) ? new Handle(name, token) : null;
  }

  @Override
  public boolean release(Object handle) {
    Handle h = (Handle) handle;
    return Long.valueOf(1).equals(client.eval(RELEASE, List.of(h.key), List.of(h.token)));
  }

  @Override
  public boolean extend(Object handle, long ttl) {
    Handle h = (Handle) handle;
    return Long.valueOf(1).equals(client.eval(EXTEND, List.of(h.key), List.of(h.token, Long.toString(ttl))));
  }
}
