/*
 * Waking (spec/shared-memory.md, "Waking" and M29): two publishers and one execution thread that reads both. The first one loses
 * nothing, so it waits when its ring is full; the ring of the second one comes when the thread runs already. Each of the three may die before any of its steps.
 *
 *   safety    nobody who is alive waits for good while there is something to do: when nothing moves any more, the thread has read all
 *             that was published, and a publisher has published all that it wanted to
 *
 * The bell of a side is its eventfd: ringing it twice is ringing it once, waiting drains it. A step touches one word that another process
 * sees; what a side keeps for itself goes with it. Built with -DNAME one step is wrong: tools/models.py has the list.
 */
#ifdef ALONE /* only the first publisher, whose ring is full again and again */
#ifndef RING
#define FRAMES 4
#define RING 2
#else
#define FRAMES 2
#endif
#else /* both, and room for all */
#define FRAMES 1
#define RING 2
#endif
#define LOSES_NOTHING 0 /* the publishers */
#define NEWCOMER 1
#define THREAD 2

/* Shared memory, each word written by one process. */
byte head[2], blocked;
byte cursor[2], epoch;

bool bell[3];     /* eventfds, of those who wait */
bool serving[2];  /* the thread's process has the ring */
bool hung_up[2];  /* and has heard that it is gone */
bool forgotten;   /* the publisher's has heard that the thread is gone */
bool gone[3];
byte wakes;       /* of the thread, by its own process: something has changed beside heads */

#define IS_NEWS(p) (serving[p] && head[p] > cursor[p])

/* --- the publishers ----------------------------------------------------------------------------------------------------------------- */

#define HAS_SPACE (me == NEWCOMER || forgotten || head[me] - cursor[me] < RING)

inline ring_the_thread() {
  d_step {
    seen = epoch;
    must = (seen % 2 == 1 && seen != rung);
#ifdef RUNG_IN_WHATEVER_EPOCH
    must = (seen % 2 == 1 && rung == 0);
#endif
    rung = (must -> seen : rung);
    seen = 0
  };
  if
  :: must -> bell[THREAD] = true
  :: else
  fi;
  must = false
}

proctype Publisher(byte me) {
  byte rung, seen;
  bool must;
  {
    do
    :: head[me] < FRAMES ->
       do
       :: HAS_SPACE -> break
       :: else ->
#ifdef SPACE_LOOKED_FOR_BEFORE_BLOCKED
          if
          :: HAS_SPACE -> goto space
          :: else
          fi;
#endif
          blocked = blocked + 1;
#if !defined(SPACE_NOT_LOOKED_FOR_AGAIN) && !defined(SPACE_LOOKED_FOR_BEFORE_BLOCKED)
          if
          :: HAS_SPACE -> goto space
          :: else
          fi;
#endif
          d_step { bell[me] -> bell[me] = false };
space:
          blocked = (blocked % 2 == 1 -> blocked + 1 : blocked)
       od;
#ifdef RUNG_BEFORE_THE_HEAD
       ring_the_thread();
       head[me] = head[me] + 1
#else
       head[me] = head[me] + 1;
       ring_the_thread()
#endif
    :: else -> break
    od
  } unless {
    d_step {
      gone[me] -> rung = 0;
      must = false
    }
  }
}

/* --- the execution thread ----------------------------------------------------------------------------------------------------------- */

/* When half of the ring is free, by the head that was read last. */
inline tell_who_is_blocked() {
  d_step {
    seen = (newest - cursor[LOSES_NOTHING] <= RING / 2 -> blocked : 0);
    newest = 0;
    must = (seen % 2 == 1 && seen != rung);
    rung = (must -> seen : rung);
    seen = 0
  };
  if
  :: must -> bell[LOSES_NOTHING] = true
  :: else
  fi;
  must = false
}

inline take_all() {
  do
  :: d_step { IS_NEWS(LOSES_NOTHING) -> newest = head[LOSES_NOTHING] };
#ifdef BLOCKED_LOOKED_AT_BEFORE_THE_CURSOR
     tell_who_is_blocked();
     cursor[LOSES_NOTHING] = cursor[LOSES_NOTHING] + 1
#else
     cursor[LOSES_NOTHING] = cursor[LOSES_NOTHING] + 1;
     tell_who_is_blocked()
#endif
  :: else -> break
  od;
  if
  :: IS_NEWS(NEWCOMER) -> cursor[NEWCOMER] = head[NEWCOMER]
  :: else
  fi
}

inline look_once_more() {
  if
  :: IS_NEWS(LOSES_NOTHING) -> goto awake
  :: else
  fi;
  if
  :: IS_NEWS(NEWCOMER) -> goto awake
  :: else
  fi;
  if
  :: wakes != seen_wakes -> goto awake
  :: else
  fi
}

proctype Thread() {
  byte rung, newest, seen, seen_wakes;
  bool must;
  {
    skip;
awake:
    epoch = (epoch % 2 == 1 -> epoch + 1 : epoch);
    seen_wakes = wakes;
    take_all();
#ifdef LOOKED_BEFORE_MARKED_ASLEEP
    look_once_more();
#endif
    epoch = epoch + 1;
#if !defined(NOT_LOOKED_AGAIN_BEFORE_SLEEPING) && !defined(LOOKED_BEFORE_MARKED_ASLEEP)
    look_once_more();
#endif
#ifdef DRAINED_AFTER_THE_LAST_LOOK
    bell[THREAD] = false;
#endif
end_waits:
    d_step { bell[THREAD] -> bell[THREAD] = false };
    goto awake
  } unless {
    d_step {
      gone[THREAD] -> rung = 0;
      newest = 0;
      seen_wakes = 0;
      must = false
    }
  }
}

/* --- what the threads for sockets do ------------------------------------------------------------------------------------------------- */

inline wake() {
  d_step {
    wakes++;
    bell[THREAD] = true
  }
}

active proctype SocketsOfTheReader() {
end:
  do
  :: !gone[THREAD] && !serving[NEWCOMER] -> /* its ring has come, and may be full by now */
     serving[NEWCOMER] = true;
#ifndef NEWCOMERS_COME_SILENTLY
     wake()
#endif
  :: !gone[THREAD] && gone[0] && !hung_up[0] ->
     hung_up[0] = true;
#ifndef NOT_WOKEN_BY_THE_END
     wake()
#endif
  :: !gone[THREAD] && gone[1] && !hung_up[1] ->
     hung_up[1] = true;
#ifndef NOT_WOKEN_BY_THE_END
     wake()
#endif
  od
}

active proctype SocketsOfAPublisher() {
end:
  gone[THREAD] -> forgotten = true;
#ifndef FORGOTTEN_SILENTLY
  bell[LOSES_NOTHING] = true
#endif
}

/* Ends one of them, or nobody, whenever it likes. */
active proctype Death() {
end:
  if
  :: gone[0] = true
#ifndef ALONE
  :: gone[1] = true
#endif
  :: gone[THREAD] = true
  :: skip
  fi
}

/* When nobody can do anything any more. A publisher that waits then is an error of its own: it is not where it may end. */
active proctype Judge() {
end:
  timeout -> assert(gone[THREAD] || (cursor[0] == head[0] && cursor[1] == head[1]))
}

init {
  atomic {
    serving[LOSES_NOTHING] = true;
#ifdef ALONE
    serving[NEWCOMER] = true;
#else
    run Publisher(NEWCOMER);
#endif
    run Publisher(LOSES_NOTHING);
    run Thread()
  }
}
