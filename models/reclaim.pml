/*
 * Retiring, claiming and reclaiming (spec/shared-memory.md, "Claiming", "Retiring and reclaiming"): one publisher, a reader that must
 * not lose anything, and one that wants the newest message only. One of the three may die before any of its steps.
 *
 *   safety    who has claimed a frame has that frame's entry and reads that frame's storage, up to its last read;
 *             the reader that must not lose anything loses nothing
 *   liveness  the storage of every frame is given back in the end
 *
 * A step touches one word that another process sees; what a side keeps for itself goes with it. Built with -DNAME one step is
 * wrong: tools/models.py has the list.
 */
#ifndef FRAMES
#define FRAMES 3
#endif
#define RING 2
#ifndef STORAGES
#define STORAGES 2
#endif
#define KEEPS_ALL 0 /* the readers, by what they ask for */
#define KEEPS_LAST 1
#define PUBLISHER 2

/* Shared memory, each word written by one process. */
typedef Entry {
  byte seq, root, size
};
Entry entry[RING];
byte head, claim[2], cursor[2];
/* What lies in each block of the window: a frame, or 0 when it is free. */
byte storage[2];

/* Of the sockets: Unsubscribe was sent; it is closed, for the process is dead or the last handle gone. */
bool left[2], gone[3];

bool published_all, given_back_all;

#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* --- the publisher ------------------------------------------------------------------------------------------------------------------ */

/* The thread for sockets. It takes the mutex that a sweep takes, so nothing of this is seen within one. */
inline hear_of_readers() {
  d_step {
#ifndef DEAD_ARE_NOT_FORGOTTEN
    listed[0] = listed[0] && !gone[0];
    listed[1] = listed[1] && !gone[1];
#endif
#ifndef LEFT_READERS_STILL_DECIDE
    decides[0] = !left[0] && listed[0];
    decides[1] = !left[1] && listed[1];
#endif
#ifdef FORGOTTEN_WHEN_IT_UNSUBSCRIBES
    listed[0] = listed[0] && !left[0];
    listed[1] = listed[1] && !left[1];
#endif
  }
}

/* floor: nobody wants what is not newer. slowest: likewise, of those who must not lose anything. */
inline look_at_cursors() {
  d_step {
    slowest = (decides[KEEPS_ALL] -> cursor[KEEPS_ALL] : head);
    floor = slowest
  };
  if
  :: d_step { decides[KEEPS_LAST] && floor > 0 -> floor = MIN(floor, MAX(cursor[KEEPS_LAST], head - 1)) }
  :: else
  fi
}

inline retire_up_to(last) {
  do
  :: d_step {
       oldest <= last ->
#ifndef NOT_RETIRED
       if
       :: entry[oldest % RING].seq == oldest -> entry[oldest % RING].seq = 0
       :: else
       fi;
#endif
       oldest++
     }
  :: else -> break
  od
}

inline look_at_claims() {
  seen[0] = (listed[0] -> claim[0] : 0);
  seen[1] = (listed[1] -> claim[1] : 0)
}

inline may_go(s) {
  if
  :: storage[s] != 0 && storage[s] < oldest && storage[s] != seen[0] && storage[s] != seen[1] -> storage[s] = 0
  :: else
  fi
}

inline sweep() {
#ifdef CLAIMS_BEFORE_RETIRING
  look_at_claims();
#endif
  look_at_cursors();
  retire_up_to(floor);
#ifdef CLAIMS_BEFORE_RETIRING
  skip;
#else
  look_at_claims();
#endif
  d_step {
    may_go(0);
    may_go(1);
    seen[0] = 0;
    seen[1] = 0;
    floor = 0;
    free = (storage[0] == 0 -> 0 : (STORAGES == 2 && storage[1] == 0 -> 1 : STORAGES))
  }
}

proctype Publisher() {
  byte oldest = 1, next, floor, slowest, free, seen[2];
  bool listed[2] = true, decides[2] = true;
  {
    do
    :: head < FRAMES ->
       hear_of_readers();
       sweep();
       if
       :: free == STORAGES && oldest <= head && oldest <= slowest -> /* memory is full: withdraw the oldest */
          floor = oldest;
          retire_up_to(floor);
          sweep()
       :: else
       fi;
       if
       :: d_step {
            free == STORAGES || head - slowest >= RING -> slowest = 0; /* refused, and tried again */
            free = 0
          }
       :: else ->
          d_step {
            next = head + 1;
            slowest = 0;
            storage[free] = next
          };
          if
          :: next > RING -> retire_up_to(next - RING)
          :: else
          fi;
#ifdef HEAD_BEFORE_THE_ENTRY
          head = next;
#endif
          entry[next % RING].root = free;
          entry[next % RING].size = next;
          entry[next % RING].seq = next;
          d_step {
            head = next;
            next = 0;
            free = 0
          }
       fi
    :: else ->
       published_all = true;
       hear_of_readers();
       sweep();
       d_step {
         slowest = 0;
         free = 0
       };
       if
       :: storage[0] + storage[1] == 0 -> break
       :: else
       fi
    od;
    given_back_all = true
  } unless {
    d_step {
      gone[PUBLISHER] -> oldest = 0;
      next = 0;
      floor = 0;
      slowest = 0;
      free = 0;
      seen[0] = 0;
      seen[1] = 0
    }
  }
}

/* --- the readers -------------------------------------------------------------------------------------------------------------------- */

proctype Reader(byte me) {
  byte next, root, size;
  {
    do
    :: d_step { head > cursor[me] -> next = (me == KEEPS_ALL -> cursor[me] + 1 : head) };
#ifdef CURSOR_BEFORE_CLAIM
       cursor[me] = next;
#endif
#ifndef CLAIM_AFTER_LOOKING
       claim[me] = next;
#endif
       if
       :: entry[next % RING].seq != next -> goto lost
       :: else
       fi;
       root = entry[next % RING].root;
       size = entry[next % RING].size;
#ifndef NO_SECOND_LOOK
       if
       :: entry[next % RING].seq != next -> goto lost
       :: else
       fi;
#endif
#ifdef CLAIM_AFTER_LOOKING
       claim[me] = next;
#endif
       assert(size == next);
       cursor[me] = next;
       assert(storage[root] == next);
       if
       :: left[me] = true /* the Subscriber is destroyed, its handle lives on */
       :: skip
       fi;
#ifdef UNCLAIMED_BEFORE_THE_LAST_READ
       claim[me] = 0;
#endif
       assert(storage[root] == next);
       d_step {
         claim[me] = 0;
         next = 0;
         root = 0;
         size = 0
       };
       if
       :: left[me] -> break
       :: else -> goto on
       fi;
lost:
       assert(me != KEEPS_ALL);
       claim[me] = 0;
       d_step {
         cursor[me] = next;
         next = 0;
         root = 0;
         size = 0
       };
on:
       skip
    :: head == cursor[me] && (published_all || gone[PUBLISHER]) -> break
    od;
    gone[me] = true
  } unless {
    d_step {
      gone[me] -> next = 0;
      root = 0;
      size = 0
    }
  }
}

/* Ends one of them, or nobody, whenever it likes. Then the kernel closes the socket, when nothing of the process can touch memory any more. */
proctype Death() {
end:
  if
  :: !gone[0] -> gone[0] = true
  :: !gone[1] -> gone[1] = true
  :: !gone[PUBLISHER] -> gone[PUBLISHER] = true
  :: skip
  fi
}

init {
  atomic {
    run Publisher();
    run Reader(KEEPS_ALL);
    run Reader(KEEPS_LAST);
    run Death()
  }
}

#ifdef LIVENESS
ltl nothing_is_kept_for_ever { <> (given_back_all || gone[PUBLISHER]) }
#endif
