// Redlock's classic way over hiredis: SET NX PX, and scripts by EVALSHA, with EVAL where the server does not know them.
// Prints a line of JSON. A check is a process of its own, so that all run at once and one that fails can just exit.

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LONG = 30000,   // ms; longer than any pause of a busy machine
	SHORT = 1000,   // of a lock that is left to its end
	EARLY = 950,    // rounding, and the millisecond at which a client began to count
	PATIENCE = 60,  // s, for a whole check
	WORKERS = 20,
	TIMES = 3,
	TOKEN = 20,     // bytes, any of the 256
	TEXT = 400,
};

static const char *HELD = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
static const char *HELD_SHA = "ae3671744a5dbb24ea37ef607b8b10ac7856d43e";
static const char *LONGER = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";

static char key[TEXT]; // of this process's check
static int answer;     // where its text goes

static void fail(const char *text) {
	if (write(answer, text, strlen(text)) < 0)
		abort();
	_exit(1);
}

typedef struct {
	redisContext *c;
	unsigned char token[TOKEN];
} client;

static void draw(client *l) {
	FILE *f = fopen("/dev/urandom", "r");
	if (!f || fread(l->token, TOKEN, 1, f) != 1)
		fail("no random numbers");
	fclose(f);
	l->token[0] = 0, l->token[1] = '\r', l->token[2] = '\n';
}

static client join(void) {
	client l = {.c = redisConnect(getenv("REDLOCKD_HOST"), atoi(getenv("REDLOCKD_PORT")))};
	if (!l.c || l.c->err)
		fail(l.c ? l.c->errstr : "no memory");
	draw(&l);
	return l;
}

static redisReply *must(client *l, redisReply *r) {
	if (!r)
		fail(l->c->errstr);
	return r;
}

// number of a reply that must be one.
static long long number(client *l, redisReply *r) {
	must(l, r);
	if (r->type != REDIS_REPLY_INTEGER)
		fail(r->str ? r->str : "the reply is no number");
	long long n = r->integer;
	freeReplyObject(r);
	return n;
}

static int take(client *l, int ttl) {
	redisReply *r = must(l, redisCommand(l->c, "SET %s %b NX PX %d", key, l->token, (size_t)TOKEN, ttl));
	int got = r->type == REDIS_REPLY_STATUS && !strcmp(r->str, "OK");
	if (!got && r->type != REDIS_REPLY_NIL)
		fail(r->str ? r->str : "neither OK nor nil");
	freeReplyObject(r);
	return got;
}

static void take_free(client *l, int ttl) {
	if (!take(l, ttl))
		fail("a free lock was refused");
}

static void await(client *l, int ttl) {
	while (!take(l, ttl)) // PATIENCE ends it
		usleep(5000 + random() % 20000);
}

static int release(client *l) {
	redisReply *r = must(l, redisCommand(l->c, "EVALSHA %s 1 %s %b", HELD_SHA, key, l->token, (size_t)TOKEN));
	if (r->type == REDIS_REPLY_ERROR && !strcmp(r->str, "NOSCRIPT No matching script. Please use EVAL.")) {
		freeReplyObject(r);
		r = redisCommand(l->c, "EVAL %s 1 %s %b", HELD, key, l->token, (size_t)TOKEN);
	}
	return number(l, r);
}

static int extend(client *l, int ttl) {
	return number(l, redisCommand(l->c, "EVAL %s 1 %s %b %d", LONGER, key, l->token, (size_t)TOKEN, ttl));
}

static void check_take(void) {
	client a = join();
	take_free(&a, LONG);
	long long left = number(&a, redisCommand(a.c, "PTTL %s", key));
	if (left <= 0 || left > LONG)
		fail("PTTL is wrong");
	redisReply *r = must(&a, redisCommand(a.c, "GET %s", key));
	if (r->type != REDIS_REPLY_STRING || r->len != TOKEN || memcmp(r->str, a.token, TOKEN))
		fail("GET is not the token");
}

static void check_contend(void) {
	client a = join(), b = join();
	take_free(&a, LONG);
	if (take(&b, LONG))
		fail("two hold it");
}

static void check_release(void) {
	client a = join(), b = join();
	take_free(&a, LONG);
	if (release(&a) != 1)
		fail("the holder could not release it");
	take_free(&b, LONG);
}

static void check_another(void) {
	client a = join(), b = join(), c = join();
	take_free(&a, LONG);
	if (release(&b) != 0)
		fail("the release of another's lock was not refused");
	if (take(&c, LONG))
		fail("the release of another's lock was carried out");
	if (extend(&b, LONG) != 0)
		fail("the extension of another's lock was not refused");
}

static void check_extend(void) {
	client a = join(), b = join();
	take_free(&a, 5000);
	if (extend(&a, LONG) != 1)
		fail("the holder could not extend it");
	if (number(&a, redisCommand(a.c, "PTTL %s", key)) < 10000)
		fail("PTTL did not grow");
	if (take(&b, LONG))
		fail("two hold it");
}

static void check_expiry(void) {
	client a = join(), b = join();
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	take_free(&a, SHORT);
	await(&b, LONG);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if ((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < EARLY)
		fail("it ended too early");
	if (release(&a) != 0)
		fail("who lost it could release it");
}

static volatile int count; // the lock alone orders its reads and writes

static void *work(void *nothing) {
	client l = join();
	for (int i = 0; i < TIMES; i++) {
		draw(&l);
		await(&l, LONG);
		int seen = count;
		usleep(2000);
		count = seen + 1;
		if (release(&l) != 1)
			fail("the holder could not release it");
	}
	return nothing;
}

static void check_counter(void) {
	pthread_t threads[WORKERS];
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			fail("no thread");
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	if (count != WORKERS * TIMES)
		fail("counts were lost");
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{"take", check_take},     {"contend", check_contend}, {"release", check_release}, {"release by another", check_another},
	{"extend", check_extend}, {"expiry", check_expiry},   {"counter", check_counter},
};
enum { CHECKS = sizeof checks / sizeof *checks };

// begin starts a check, and returns where it says what failed: nothing, if nothing did.
static int begin(int i) {
	int ends[2];
	if (pipe(ends))
		abort();
	if (fork()) {
		close(ends[1]);
		return ends[0];
	}
	answer = ends[1];
	srandom(getpid());
	snprintf(key, sizeof key, "hiredis:%d:%ld:%d", getpid(), (long)time(NULL), i);
	alarm(PATIENCE);
	checks[i].run();
	if (write(answer, "ok", 2) != 2)
		abort();
	_exit(0);
}

int main(void) {
	int from[CHECKS];
	for (int i = 0; i < CHECKS; i++)
		from[i] = begin(i);
	printf("{\"language\":\"C\",\"library\":\"hiredis\",\"version\":\"%d.%d.%d\",\"how\":\"SET NX PX, EVALSHA\",\"checks\":{",
		HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
	for (int i = 0; i < CHECKS; i++) {
		char text[TEXT] = "";
		ssize_t n = read(from[i], text, sizeof text - 1);
		if (n <= 0)
			strcpy(text, "it did not end");
		for (char *c = text; *c; c++)
			if (*c == '"' || *c == '\\' || *c < ' ')
				*c = '\'';
		printf("%s\"%s\":\"%s\"", i ? "," : "", checks[i].name, text);
	}
	puts("},\"note\":\"\"}");
	while (wait(NULL) > 0)
		;
	return 0;
}
