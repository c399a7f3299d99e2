/*
 * Two servers on one PostgreSQL database: the batch log, takeovers, the two phases of a creation,
 * and the reaper. For Spin; README.md has the properties, the limits and how to run it.
 *
 * Each atomic or d_step is one action of a server in its own memory, or of the database. Between
 * two of them anything else may happen, and any time may pass: a paused server, a slow network and
 * a late response need no step of their own.
 *
 * -DREST: at some moment failures and clients end. -DONE_KEY: one client. -DBROKEN_... removes one
 * rule: Spin must find an error. -DREACH_...: Spin must find that something can happen.
 */

#define KEYS 2    /* idempotency keys; each may be sent to both servers at any time */
#define SERVERS 2 /* each restarts after its end, with a new owner ID */
#ifndef ROWS
#define ROWS 3 /* the last replicated row of the log, and the rows after it */
#endif
#ifndef LATE
#define LATE 1 /* COMMITs without a response that may still be executed */
#endif

/* In ticks. All clocks run at the same speed: log_options has a margin for the difference. */
#define LEASE 2
#ifdef BROKEN_HOLD
#define HOLD 3
#else
#define HOLD 1
#endif

mtype:kinds = { no_row, takeover, batch, heartbeat, nothing, release };
mtype:writes = { no_write, reserve, fulfil, fail };
mtype:slots = { absent, pending, committed, failed };
mtype:trips = { idle, sent, acknowledged, conflict, unknown };

/* Owner IDs: of the present run of server 0 and of server 1; all former runs have one. */
#define id_of(s) (s + 1)
#define FORMER 3

/* A row on its way to the database, and what its batch writes: values that the server computed from
 * what it knows, as the server's rules do. */
typedef row {
    byte n;
    byte owner; /* 0: there is no row */
    byte after; /* the expected owner of row n - 1 */
    mtype:kinds kind;
    mtype:writes write;
    byte key;
    byte number;
    bool is_denied; /* the client was told that nothing was written */
};
typedef entry {
    byte owner;
    mtype:kinds kind;
};
typedef tables {
    mtype:slots slot[KEYS];
    byte number[KEYS]; /* of the key's task; 0: there is no task */
    byte counter;
#ifdef BROKEN_NUMBER
    byte promised[KEYS];
#endif
};

/* ---- the database ---- */

/* Row numbers are relative, so that the log may have any length: row 1 is the last row that is
 * acknowledged and replicated, and all rows before it are 0. */
entry log[ROWS + 2];
byte top = 1;        /* the last row */
byte kept = 1;       /* the last row that a failover keeps */
byte acked = 1;      /* the last acknowledged row */
tables now;          /* after the last row */
tables replicated;   /* after row `kept` */
row late[LATE];
byte silence;        /* ticks since the last row changed */

/* ---- the servers ---- */

bool serves[SERVERS];
byte last[SERVERS];       /* batch_log::last_ */
byte after[SERVERS];      /* batch_log::after_ */
byte age[SERVERS];        /* ticks since batch_log::sent_ */
tables known[SERVERS];    /* the store, by the server's memory */
mtype:trips trip[SERVERS];
row call[SERVERS];        /* the row of the round trip in progress */
byte call_age[SERVERS];   /* ticks since it was sent */
bool has_looked[SERVERS]; /* the row that the standby saw last has not vanished since */

#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef UNANSWERED
#define UNANSWERED 1
#endif
#ifndef FAILOVERS
#define FAILOVERS 0
#endif
byte crashes = CRASHES;
byte unanswered = UNANSWERED;
byte failovers = FAILOVERS;

#ifdef REST
bool at_rest;
#define ACTIVE (!at_rest)
#else
#define ACTIVE true
#endif

/* ---- what clients were sent ---- */

byte receipt[KEYS];
bool told_failed[KEYS];

/* Not a part of the state. Spin's breadth-first search has no such variables. */
#ifdef SHORTEST
#define HIDDEN
#else
#define HIDDEN hidden
#endif
HIDDEN byte i, first;

/* ---- properties; Spin prints the name with the error ---- */

HIDDEN byte a_key_has_one_task = true;
HIDDEN byte numbers_are_unique = true;
HIDDEN byte numbers_have_no_gap = true;
HIDDEN byte a_settled_slot_never_changes = true;
HIDDEN byte a_denied_batch_is_never_committed = true;
HIDDEN byte a_response_is_repeated = true;
HIDDEN byte a_receipt_is_durable = true;
HIDDEN byte a_response_is_current = true;
HIDDEN byte one_server_holds_the_store = true;
HIDDEN byte nothing_stays_pending = true;

inline verify_row(r) {
    if
    :: r.write == fulfil ->
        a_key_has_one_task = now.number[r.key] == 0;
        assert(a_key_has_one_task);
        numbers_are_unique = now.number[1 - r.key] != r.number;
        assert(numbers_are_unique);
        numbers_have_no_gap = r.number == 1 + (now.number[0] != 0) + (now.number[1] != 0);
        assert(numbers_have_no_gap);
        a_settled_slot_never_changes = now.slot[r.key] == pending
    :: r.write == fail -> a_settled_slot_never_changes = now.slot[r.key] == pending
    :: r.write == reserve -> a_settled_slot_never_changes = now.slot[r.key] == absent
    :: else
    fi;
    assert(a_settled_slot_never_changes);
    a_denied_batch_is_never_committed = !r.is_denied;
    assert(a_denied_batch_is_never_committed)
}

inline tell_receipt(k, number_) {
    a_response_is_repeated = !told_failed[k] && (receipt[k] == 0 || receipt[k] == number_);
    assert(a_response_is_repeated);
    receipt[k] = number_
}
inline tell_failure(k) {
    a_response_is_repeated = receipt[k] == 0;
    assert(a_response_is_repeated);
    told_failed[k] = true
}

#define is_held(s) (serves[s] && age[s] < HOLD)
#ifdef BROKEN_CHECK
#define may_respond(s) serves[s]
#else
#define may_respond(s) is_held(s)
#endif
#define is_stale(s, k)                                                                             \
    (receipt[k] != 0 && known[s].number[k] != receipt[k] ||                                        \
     told_failed[k] && known[s].slot[k] != failed)

#if defined REACH_TAKEOVER
#define reached (serves[1] && now.number[0] != 0)
#elif defined REACH_FORMER_OWNER
#define reached (serves[0] && serves[1])
#elif defined REACH_REAPED
#define reached told_failed[0]
#elif defined REACH_LATE_COMMIT
#define reached (late[0].owner != 0 && late[0].n == top + 1)
#endif

/* Takes a step only in a state that violates a property. */
proctype monitor() {
end:
    if
#ifdef reached
    :: reached -> assert(false)
#endif
    :: d_step {
           receipt[0] != 0 && now.number[0] != receipt[0] ||
           receipt[1] != 0 && now.number[1] != receipt[1] -> a_receipt_is_durable = false
       }
       assert(a_receipt_is_durable)
    :: d_step {
           told_failed[0] && now.slot[0] != failed || told_failed[1] && now.slot[1] != failed ->
           a_settled_slot_never_changes = false
       }
       assert(a_settled_slot_never_changes)
    /* Queries, also of caches: a server reads, then verifies that it holds the store, then
     * responds. */
    :: d_step {
           may_respond(0) && (is_stale(0, 0) || is_stale(0, 1)) ||
           may_respond(1) && (is_stale(1, 0) || is_stale(1, 1)) -> a_response_is_current = false
       }
       assert(a_response_is_current)
    :: d_step { is_held(0) && is_held(1) -> one_server_holds_the_store = false }
       assert(one_server_holds_the_store)
#ifdef REST
    /* Nothing more can happen. */
    :: at_rest && timeout ->
       nothing_stays_pending = now.slot[0] != pending && now.slot[1] != pending &&
           (now.slot[0] == committed) == (now.number[0] != 0) &&
           (now.slot[1] == committed) == (now.number[1] != 0);
       assert(nothing_stays_pending)
#endif
    fi
}

/* ---- steps of the database ---- */

inline copy_tables(to, from) {
    to.slot[0] = from.slot[0];
    to.slot[1] = from.slot[1];
    to.number[0] = from.number[0];
    to.number[1] = from.number[1];
    to.counter = from.counter
#ifdef BROKEN_NUMBER
    ; to.promised[0] = from.promised[0];
    to.promised[1] = from.promised[1]
#endif
}
inline clear_tables(t) {
    t.slot[0] = absent;
    t.slot[1] = absent;
    t.number[0] = 0;
    t.number[1] = 0;
    t.counter = 0
#ifdef BROKEN_NUMBER
    ; t.promised[0] = 0;
    t.promised[1] = 0
#endif
}
inline write_tables(t, write_, key_, number_) {
    if
    :: write_ == reserve ->
        t.slot[key_] = pending
#ifdef BROKEN_NUMBER
        ; t.promised[key_] = number_;
        t.counter = number_
#endif
    :: write_ == fulfil ->
        t.slot[key_] = committed;
        t.number[key_] = number_;
        t.counter = (t.counter < number_ -> number_ : t.counter)
    :: write_ == fail -> t.slot[key_] = failed
    :: else
    fi
}

inline copy_row(to, from) {
    to.n = from.n;
    to.owner = from.owner;
    to.after = from.after;
    to.kind = from.kind;
    to.write = from.write;
    to.key = from.key;
    to.number = from.number;
    to.is_denied = from.is_denied
}
inline clear_row(r) {
    r.n = 0;
    r.owner = 0;
    r.after = 0;
    r.kind = no_row;
    r.write = no_write;
    r.key = 0;
    r.number = 0;
    r.is_denied = false
}
inline clear_entry(e) {
    e.owner = 0;
    e.kind = no_row
}

/* All rows will survive a failover. */
inline replicate() {
    kept = top;
    copy_tables(replicated, now);
    renumber()
}
/* A failover keeps row `base`, and no server asks for the kinds of rows before it. */
#define base (kept < acked -> kept : acked)
#define renumbered(n_) (n_ < first -> 0 : n_ - first + 1)
inline renumber() {
    first = base;
    if
    :: first > 1 ->
        for (i : 0 .. SERVERS - 1) {
            last[i] = renumbered(last[i]);
            call[i].n = renumbered(call[i].n)
        };
        for (i : 0 .. LATE - 1) { late[i].n = renumbered(late[i].n) };
        for (i : 1 .. ROWS + 1) {
            if
            :: i + first - 1 <= top ->
                log[i].owner = log[i + first - 1].owner;
                log[i].kind = log[i + first - 1].kind
            :: else -> clear_entry(log[i])
            fi
        };
        top = renumbered(top);
        kept = renumbered(kept);
        acked = renumbered(acked)
    :: else
    fi;
    first = 0;
    i = 0
}

/* The fence, insert_row() of log_table.cpp: there is no row n, and row n - 1 is the expected
 * owner's. */
#ifdef BROKEN_FENCE
#define fits(r) true
#else
#ifdef BROKEN_OWNER
#define fits(r) (r.n == top + 1)
#else
#define fits(r) (r.n == top + 1 && r.after == log[top].owner)
#endif
#endif

/* Rows that can never be committed are forgotten. */
inline forget_dead_rows() {
#ifndef BROKEN_FENCE
    for (i : 0 .. LATE - 1) {
        if
        :: late[i].owner != 0 &&
           (late[i].n <= top || late[i].n == top + 1 && late[i].after != log[top].owner) ->
            clear_row(late[i])
        :: else
        fi
    };
    i = 0;
#endif
    sort_late()
}
/* The order of late rows has no meaning. */
inline sort_late() {
#if LATE > 1
    if
    :: late[0].owner == 0 && late[1].owner != 0 -> copy_row(late[0], late[1]); clear_row(late[1])
    :: else
    fi
#else
    skip
#endif
}
#define has_room (late[LATE - 1].owner == 0)
inline make_late(r) {
    if
    :: late[0].owner == 0 -> copy_row(late[0], r)
    :: else -> copy_row(late[LATE - 1], r)
    fi;
    forget_dead_rows()
}

inline commit(r) {
    verify_row(r);
    top++;
    log[top].owner = r.owner;
    log[top].kind = r.kind;
    write_tables(now, r.write, r.key, r.number);
    silence = 0
}
inline end_trip(s, outcome) {
    trip[s] = outcome;
    if
    :: outcome != acknowledged -> clear_row(call[s]); call_age[s] = 0
    :: else
    fi
}

inline keep_acknowledged(s) {
    acked = top;
    replicate()
}

/* Without failovers it does not matter when a row is replicated. */
#if FAILOVERS == 0
#define replicate_at_once() replicate()
#else
#define replicate_at_once() skip
#endif

/* A round trip is acknowledged, conflicts, or has no response: then the row may be committed at any
 * later time, or never. With synchronous replication an acknowledged row is replicated. */
#define RESPOND(s)                                                                                 \
    :: d_step {                                                                                    \
           trip[s] == sent && fits(call[s]) ->                                                     \
           commit(call[s]);                                                                        \
           call[s].n = top;                                                                        \
           end_trip(s, acknowledged);                                                              \
           keep_acknowledged(s);                                                                   \
           forget_dead_rows()                                                                      \
       }                                                                                           \
    :: d_step { trip[s] == sent && !fits(call[s]) -> end_trip(s, conflict) }                       \
    :: d_step {                                                                                    \
           trip[s] == sent && unanswered > 0 && ACTIVE ->                                          \
           unanswered--;                                                                           \
           if                                                                                      \
           :: has_room -> make_late(call[s])                                                       \
           :: else                                                                                 \
           fi;                                                                                     \
           end_trip(s, unknown)                                                                    \
       }
#define COMMIT_LATE(l)                                                                             \
    :: d_step {                                                                                    \
           late[l].owner != 0 && fits(late[l]) && top < ROWS ->                                    \
           commit(late[l]);                                                                        \
           replicate_at_once();                                                                    \
           clear_row(late[l]);                                                                     \
           forget_dead_rows()                                                                      \
       }

#define is_timed(s) ((trip[s] == sent || trip[s] == acknowledged) && call_age[s] < HOLD)

proctype database() {
    do
    RESPOND(0)
    RESPOND(1)
    COMMIT_LATE(0)
#if LATE > 1
    COMMIT_LATE(1)
#endif
    /* Rows that are not acknowledged may be replicated, too. */
#if FAILOVERS > 0
    :: d_step { ACTIVE && kept < top -> replicate(); forget_dead_rows() }
#endif
    /* A failover: rows that are not replicated vanish, and connections end with their
     * transactions. */
    :: atomic {
           failovers > 0 && ACTIVE ->
           failovers--;
           d_step {
               if
               :: kept < top ->
                   silence = 0;
                   for (i : 0 .. SERVERS - 1) { has_looked[i] = false }
               :: else
               fi;
               for (i : kept + 1 .. ROWS + 1) { clear_entry(log[i]) };
               top = kept;
               copy_tables(now, replicated);
               for (i : 0 .. LATE - 1) { clear_row(late[i]) };
               for (i : 0 .. SERVERS - 1) {
                   if
                   :: trip[i] == sent -> end_trip(i, unknown)
                   :: else
                   fi
               };
               i = 0
           }
       }
    /* Time passes. */
    :: d_step {
           silence < LEASE || age[0] < HOLD || age[1] < HOLD || is_timed(0) || is_timed(1) ->
           silence = (silence < LEASE -> silence + 1 : LEASE);
           for (i : 0 .. SERVERS - 1) {
               age[i] = (age[i] < HOLD -> age[i] + 1 : HOLD);
               if
               :: is_timed(i) -> call_age[i]++
               :: else
               fi
           };
           i = 0
       }
#ifdef REST
    :: d_step { ACTIVE -> at_rest = true }
#endif
    od
}

/* ---- steps of a server ---- */

/* batch_log::try_append(): sends a row. The store is held from then on, not from the response. */
inline send(s, n_, after_, kind_, write_, key_, number_) {
    call[s].n = n_;
    call[s].owner = id_of(s);
    call[s].after = after_;
    call[s].kind = kind_;
    call[s].write = write_;
    call[s].key = key_;
    call[s].number = number_;
    call_age[s] = 0;
    trip[s] = sent
}
inline take_acknowledgement() {
    last[s] = call[s].n;
    after[s] = id_of(s);
#ifdef BROKEN_SENT
    age[s] = 0;
#else
    age[s] = call_age[s];
#endif
    end_trip(s, idle)
}

inline want(kind_, write_, key_, number_) {
    what = kind_;
    change = write_;
    key = key_;
    number = number_
}
inline want_nothing() {
    want(no_row, no_write, 0, 0);
    is_there = false
}

#ifdef BROKEN_NUMBER
#define number_1(k) (known[s].counter + 1)
#define number_2(k) known[s].promised[k]
#else
#define number_1(k) 0
#define number_2(k) (known[s].counter + 1)
#endif

/* What an owner does between two batches, for one key. A client may have sent it at any time.
 *   Phase 1, src/rules/reserve.cpp: an unknown key gets a pending slot, and no number.
 *   Phase 2, src/rules/fulfil.cpp: a pending slot becomes a task with the next number.
 *   A retry of a settled key: the response writes nothing, so that the store must be held.
 *   The reaper, src/rules/reconcile_pending.cpp: a pending slot fails. It may do so at any time. In
 *   the server it spares slots that a request works on, which no property depends on. */
#define WORK_ON(k)                                                                                 \
    :: ACTIVE && known[s].slot[k] == absent -> want(batch, reserve, k, number_1(k))                \
    :: known[s].slot[k] == pending -> want(batch, fulfil, k, number_2(k))                          \
    :: is_held(s) && known[s].slot[k] == committed && receipt[k] == 0 ->                           \
        tell_receipt(k, known[s].number[k]);                                                       \
        goto owner                                                                                 \
    :: is_held(s) && known[s].slot[k] == failed && !told_failed[k] ->                              \
        tell_failure(k);                                                                           \
        goto owner                                                                                 \
    REAP(k)
#ifdef BROKEN_REAPER
#define REAP(k) :: found == 0 && known[s].slot[k] == pending -> found = k + 1; goto owner
#else
#define REAP(k)                                                                                    \
    :: known[s].slot[k] == pending -> want(batch, fail, k, 0)
#endif

/* The row that the server wanted to append is committed. */
inline finish_committed() {
    if
    :: what == takeover ->
        serves[s] = true;
        copy_tables(known[s], now)
    :: else -> write_tables(known[s], change, key, number)
    fi;
    if
    :: change == fulfil -> tell_receipt(key, number)
    :: else
    fi;
    want_nothing()
}

/* It is not, and never will be. The client is told that its request had no effect. */
inline finish_not_committed() {
    if
    :: what == takeover -> become_standby()
    :: else ->
        for (i : 0 .. LATE - 1) {
            late[i].is_denied = late[i].is_denied || late[i].owner == id_of(s) &&
                late[i].kind == batch
        };
        i = 0
    fi;
    want_nothing()
}

inline become_standby() {
    serves[s] = false;
    has_looked[s] = false;
    last[s] = 0;
    after[s] = 0;
    age[s] = HOLD
}

#define no_more_of(id) id = (id == id_of(s) -> FORMER : id)
/* The process ends, and starts again as a standby. A row that it has sent may still be
 * committed. */
inline end_run() {
    if
    :: trip[s] == sent && has_room -> make_late(call[s])
    :: else
    fi;
    end_trip(s, idle);
    become_standby();
    clear_tables(known[s]);
    want_nothing();
    for (i : 1 .. ROWS + 1) { no_more_of(log[i].owner) };
    for (i : 0 .. LATE - 1) {
        no_more_of(late[i].owner);
        no_more_of(late[i].after)
    };
    no_more_of(after[1 - s]);
    no_more_of(call[1 - s].after);
    i = 0
#ifdef BROKEN_REAPER
    ; found = 0
#endif
}

#ifdef REST
#define has_work (ACTIVE || now.slot[0] == pending || now.slot[1] == pending)
#else
#define has_work true
#endif

proctype server(byte s) {
    /* The row that the server wants to append. */
    mtype:kinds what = no_row;
    mtype:writes change = no_write;
    byte key, number;
    bool is_there; /* decide(): the row that was found is the one that was wanted */
#ifdef BROKEN_REAPER
    byte found;
#endif

    if
    :: s == 0 -> goto owner
    :: else
    fi;

    /* log_watch::look() */
standby:
    atomic {
        if
        :: has_work && (silence >= LEASE || log[top].kind == release) ->
            last[s] = top;
            after[s] = log[top].owner;
            has_looked[s] = true
        fi
    }
    /* batch_log::take_over(), on the connection of the look: the row that was seen has not
     * vanished. */
    atomic {
#ifndef BROKEN_LOOK
        if
        :: !has_looked[s] -> become_standby(); goto standby
        :: else
        fi;
#endif
        has_looked[s] = false;
        want(takeover, no_write, 0, 0);
        send(s, last[s] + 1, after[s], takeover, no_write, 0, 0);
        goto sent_row
    }

owner:
    atomic {
        if
        WORK_ON(0)
#ifndef ONE_KEY
        WORK_ON(1)
#endif
#ifdef BROKEN_REAPER
        :: found != 0 -> want(batch, fail, found - 1, 0); found = 0
#endif
        /* batch_log::keep(). More heartbeats would change nothing. */
        :: ACTIVE && !is_held(s) -> want(heartbeat, no_write, 0, 0)
        /* batch_log::release(): the outcome is ignored. */
        :: ACTIVE && crashes > 0 ->
            crashes--;
#ifndef BROKEN_RELEASE
            serves[s] = false;
#endif
            send(s, last[s] + 1, after[s], release, no_write, 0, 0);
            goto stopping
        :: ACTIVE && crashes > 0 -> crashes--; end_run(); goto standby /* it is killed */
        fi;
#ifdef BROKEN_UNKNOWN
        /* Such a server has to ask the log for the next row: its own may be there. */
        last[s] = (log[top].owner == id_of(s) -> top : last[s]);
#endif
        send(s, last[s] + 1, after[s], what, change, key, number)
    }

sent_row:
    atomic {
        if
        :: trip[s] == acknowledged -> take_acknowledgement(); finish_committed(); goto owner
        :: trip[s] == conflict && what == takeover ->
            end_trip(s, idle);
            finish_not_committed();
            goto standby
        /* Another server owns the store. */
        :: trip[s] == conflict && what != takeover ->
            end_trip(s, idle);
            goto lose
        :: trip[s] == unknown -> end_trip(s, idle)
#ifdef BROKEN_UNKNOWN
            ;
            if
            :: what == takeover -> finish_not_committed(); goto standby
            :: else -> finish_not_committed(); goto owner
            fi
#endif
        :: ACTIVE && crashes > 0 -> crashes--; end_run(); goto standby
        fi
    }

    /* batch_log::decide(): what became of row last + 1? */
decide:
    atomic {
        if
        :: top < last[s] && what != takeover -> goto lose
        /* A standby has another look. */
        :: top < last[s] && what == takeover -> finish_not_committed(); goto standby
        :: top > last[s] && log[top].owner != id_of(s) ->
            if
            :: what == takeover -> finish_not_committed(); goto standby
            :: else -> goto lose
            fi
        /* The row is not there: another one in its place prevents it. */
        :: top == last[s] ->
            is_there = false;
            send(s, top + 1, log[top].owner, nothing, no_write, 0, 0)
        /* The row is there, or the one in its place, whose COMMIT had no response either. It may
         * still vanish until a later row is acknowledged. */
        :: top > last[s] && log[top].owner == id_of(s) ->
            is_there = log[last[s] + 1].kind != nothing;
#ifdef BROKEN_CONFIRM
            last[s] = top;
            after[s] = id_of(s);
            goto decided
#endif
            send(s, top + 1, id_of(s), heartbeat, no_write, 0, 0)
        /* After log_options::decide, or it is killed. */
        :: ACTIVE && crashes > 0 -> crashes--; end_run(); goto standby
        fi
    }
    atomic {
        if
        :: trip[s] == acknowledged -> take_acknowledgement()
        :: trip[s] == conflict || trip[s] == unknown ->
            end_trip(s, idle);
            is_there = false;
            goto decide
        :: ACTIVE && crashes > 0 -> crashes--; end_run(); goto standby
        fi
    }
decided:
    atomic {
#ifdef REACH_FOUND
        assert(!(is_there && change == fulfil));
#endif
#ifdef REACH_REPLACED
        assert(is_there || change != fulfil);
#endif
        if
        :: is_there -> finish_committed(); goto owner
        :: !is_there && what == takeover -> finish_not_committed(); goto standby
        :: !is_there && what != takeover -> finish_not_committed(); goto owner
        fi
    }

    /* batch_log::lose(). */
lose:
    atomic {
        serves[s] = false;
        end_run();
        goto standby
    }

stopping:
    atomic {
        end_run();
        goto standby
    }
}

init {
    d_step {
        for (i : 0 .. ROWS + 1) { clear_entry(log[i]) };
        for (i : 0 .. LATE - 1) { clear_row(late[i]) };
        clear_tables(now);
        clear_tables(replicated);
        for (i : 0 .. SERVERS - 1) {
            clear_row(call[i]);
            clear_tables(known[i]);
            trip[i] = idle;
            age[i] = HOLD
        };
        i = 0;
        log[1].owner = id_of(0);
        log[1].kind = takeover;
        last[0] = 1;
        after[0] = id_of(0);
        age[0] = 0;
        serves[0] = true
    }
    atomic {
        run database();
        run server(0);
        run server(1);
        run monitor()
    }
}
