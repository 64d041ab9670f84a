import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What every lock is put through, whatever library it comes from. */
final class Checks {
  static final long LONG = 20_000; // a ttl, in ms, that outlives any pause of a busy machine
  static final long LONGER = 90_000;
  static final long SHORT = 1_000; // a ttl to wait for
  private static final long PATIENCE = 30; // seconds for one check
  private static final int WORKERS = 20;
  private static final int ROUNDS = 4;

  interface Time {
    long left(String key) throws Exception; // PTTL
  }

  private interface Check {
    void run(String name) throws Exception;
  }

  private static final class Failure extends RuntimeException {
    Failure(String text) {
      super(text);
    }
  }

  private final Lock mine;
  private final Lock other;
  private final Time time;

  Checks(Lock mine, Lock other, Time time) {
    this.mine = mine;
    this.other = other;
    this.time = time;
  }

  Map<String, String> all() {
    Map<String, Check> checks = new LinkedHashMap<>();
    checks.put("contend", this::contend);
    checks.put("release", this::release);
    checks.put("release by another", mine.comparesTokens() ? this::releaseByAnother : null);
    checks.put("extend", mine.extendsLocks() ? this::extend : null);
    checks.put("expiry", this::expiry);
    checks.put("counter", this::counter);

    Map<String, String> results = none("not tried: nothing can be taken"); // each of them begins with a take
    results.put("take", outcome(this::take));
    if (results.get("take").equals("ok")) {
      checks.forEach((name, check) -> results.put(name, check == null ? "-" : outcome(check)));
    }
    return results;
  }

  /** What is said of a library that does not even begin to work. */
  static Map<String, String> none(String why) {
    Map<String, String> results = new LinkedHashMap<>();
    for (String name : List.of("take", "contend", "release", "release by another", "extend", "expiry", "counter")) {
      results.put(name, why);
    }
    return results;
  }

  /** A library that cannot work has to say so: an error that is clear, not a wait that never ends. */
  static String refusal(Callable<?> attempt) {
    return outcome(name -> {
      try {
        attempt.call();
      } catch (Exception e) {
        String text = reason(e);
        must(text.matches("(?i).*(redlockd|script|unknown command).*"), "not a clear error: " + text);
        return;
      }
      throw new Failure("worked, though it was not expected to");
    });
  }

  private static String outcome(Check check) {
    ExecutorService thread = Executors.newSingleThreadExecutor(Checks::daemon);
    try {
      Future<?> done = thread.submit(() -> {
        check.run("java-" + UUID.randomUUID());
        return null;
      });
      done.get(PATIENCE, TimeUnit.SECONDS);
      return "ok";
    } catch (TimeoutException e) {
      return "not done within " + PATIENCE + " s";
    } catch (ExecutionException e) {
      return reason(e.getCause());
    } catch (InterruptedException e) {
      return "interrupted";
    } finally {
      thread.shutdownNow();
    }
  }

  /** The whole chain, on one line: libraries hide what the server said at its end. */
  static String reason(Throwable e) {
    StringBuilder text = new StringBuilder();
    for (Throwable t = e; t != null && text.length() < 2000; t = t.getCause()) {
      text.append(text.length() == 0 ? "" : ": ");
      text.append(t instanceof Failure ? "" : t.getClass().getSimpleName() + " ").append(t.getMessage());
    }
    return text.toString().replaceAll("\\s+", " ");
  }

  private static void must(boolean condition, String otherwise) {
    if (!condition) {
      throw new Failure(otherwise);
    }
  }

  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  private long left(String name) throws Exception {
    return time.left(mine.key(name));
  }

  private Object taken(String name) throws Exception {
    Object handle = mine.take(name, LONG);
    must(handle != null, "a free lock is refused");
    return handle;
  }

  private void refusesOther(String name) throws Exception {
    must(other.take(name, LONG) == null, "two holders");
  }

  private void take(String name) throws Exception {
    taken(name);
    long ms = left(name);
    must(ms > LONG / 2 && ms < LONG * 1.1, "of " + LONG + " ms, " + ms + " are left");
  }

  private void contend(String name) throws Exception {
    taken(name);
    refusesOther(name);
    must(left(name) > LONG / 2, "the lock is gone after a contender failed");
  }

  private void release(String name) throws Exception {
    Object handle = taken(name);
    must(mine.release(handle), "the owner cannot release");
    must(left(name) == -2, "the lock is there after it was released");
    must(other.take(name, LONG) != null, "a released lock cannot be taken");
  }

  /** A holder that overslept releases what is another's by now. */
  private void releaseByAnother(String name) throws Exception {
    Object stale = other.take(name, SHORT);
    must(stale != null, "a free lock is refused");
    Object handle = whenFree(mine, name, LONG, 20);
    boolean worked;
    try {
      worked = other.release(stale);
    } catch (Exception e) {
      worked = false; // libraries say no in either way
    }
    must(left(name) > LONG / 2, "released by another" + (worked ? ", says the library" : ""));
    refusesOther(name);
    must(mine.release(handle), "the owner cannot release any more");
  }

  private void extend(String name) throws Exception {
    Object handle = taken(name);
    TimeUnit.SECONDS.sleep(2); // so that an extend to the same ttl is seen
    long before = left(name);
    must(mine.extend(handle, LONGER), "the owner cannot extend");
    long after = left(name);
    must(after > before, "extended, and " + after + " ms are left where " + before + " were");
    refusesOther(name);
    must(mine.release(handle), "the owner cannot release after an extend");
  }

  private void expiry(String name) throws Exception {
    long began = System.nanoTime();
    must(mine.take(name, SHORT) != null, "a free lock is refused");
    whenFree(other, name, SHORT, 20);
    long after = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    must(after > SHORT - 20, "a lock of " + SHORT + " ms was taken over after " + after + " ms");
  }

  private static Object whenFree(Lock lock, String name, long ttl, int pause) throws Exception {
    for (;;) {
      Object handle = lock.take(name, ttl);
      if (handle != null) {
        return handle;
      }
      Thread.sleep(1 + ThreadLocalRandom.current().nextInt(pause));
    }
  }

  private int count; // deliberately unprotected

  private void counter(String name) throws Exception {
    count = 0;
    ExecutorService workers = Executors.newFixedThreadPool(WORKERS, Checks::daemon);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        Lock lock = i % 2 == 0 ? mine : other;
        all.add(workers.submit(() -> increment(lock, name)));
      }
      for (Future<?> worker : all) {
        try {
          worker.get();
        } catch (ExecutionException e) {
          throw (Exception) e.getCause();
        }
      }
    } finally {
      workers.shutdownNow();
    }
    int want = WORKERS * ROUNDS;
    must(count == want, want - count + " of " + want + " increments are lost");
  }

  private Void increment(Lock lock, String name) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Object handle = whenFree(lock, name, LONG, 30);
      int read = count;
      Thread.sleep(1);
      count = read + 1;
      must(lock.release(handle), "a holder cannot release");
    }
    return null;
  }
}
