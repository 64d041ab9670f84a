import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.params.SetParams;

/** The lock without scripts: it looks under WATCH whose the key is, and acts on it in a transaction. */
final class TransactionLock implements Lock {
  private record Handle(String key, String token) {}

  private final JedisPool pool;

  TransactionLock(JedisPool pool) {
    this.pool = pool;
    pool.setMaxTotal(24); // a connection for each worker
  }

  @Override
  public Object take(String name, long ttl) {
    String token = UUID.randomUUID().toString();
    try (Jedis jedis = pool.getResource()) {
      return jedis.set(name, token, SetParams.setParams().nx().px(ttl)) == null ? null : new Handle(name, token);
    }
  }

  @Override
  public boolean release(Object handle) {
    Handle h = (Handle) handle;
    return ifMine(h, transaction -> transaction.del(h.key));
  }

  @Override
  public boolean extend(Object handle, long ttl) {
    Handle h = (Handle) handle;
    return ifMine(h, transaction -> transaction.pexpire(h.key, ttl));
  }

  private boolean ifMine(Handle h, Consumer<Transaction> what) {
    try (Jedis jedis = pool.getResource()) {
      jedis.watch(h.key);
      if (!h.token.equals(jedis.get(h.key))) {
        jedis.unwatch();
        return false;
      }
      Transaction transaction = jedis.multi();
      what.accept(transaction);
      List<Object> replies = transaction.exec(); // null: somebody came between
      return replies != null && replies.equals(List.of(1L));
    }
  }
}
