/*
 * Chunks and their addresses (spec/shared-memory.md, "Chunks and addresses"; spec/wire.md, Chunk and ChunkWithdrawn): a publisher, another
 * thread of its process that makes chunks and drops them again, a reader with a thread for the socket and one for messages, and one that has
 * one thread only. With -DDEATH the first reader or the publisher may die before any of its steps. With -DALONE there is no other reader,
 * and one of the two may die likewise, unless the window has three addresses, for what needs three chunks at a time.
 *
 *   safety    who reads a frame has its chunk mapped; when a chunk gets its addresses nobody has another one there; no frame is given up
 *             whose chunk had come
 *   and       when nothing moves any more, no reader waits for a chunk, and no addresses wait for an answer
 *
 * Under the publisher's mutex messages are sent in one step: nobody can tell. The thread that makes chunks takes another mutex. There is one
 * frame at a time, claimed and retired in one step: reclaim.pml is about that. Built with -DNAME one step is wrong: tools/models.py has the list.
 */
#define CHUNKS 3 /* with the ids 1, 2, 3 */
#ifndef FRAMES
#define FRAMES 2
#endif
#ifndef ADDRESSES
#define ADDRESSES 2
#endif
#define PUBLISHER 2

#define FOR_EACH(c) for (c : 1 .. CHUNKS)

/* The window has two addresses, 1 and 2, or three. Whose they are, also while a withdrawal is not answered; where each chunk lies. */
byte owner_of[4], address_of[CHUNKS + 1];
bool exists[CHUNKS + 1], dropped[CHUNKS + 1];
byte last_id, newest, loaned;
bool changed;
bool window_locked; /* its mutex, held while a chunk is made and while all are gone through */

/* The newest frame, the chunk that it lies in, and the newest chunk of its time, as they stand in the ring. */
byte frame, frame_chunk, frame_newest;
bool claimed[2], decided[2];

mtype = { CHUNK, WITHDRAWN, MAPPED, UNMAPPED };
chan to_reader[2] = [5] of { mtype, byte };
chan to_publisher[2] = [5] of { mtype, byte };
bool gone[3]; /* dead, so that its sockets are closed */

/* A reader's process: the table that the socket's thread makes, and the one that the other thread still uses. */
typedef Table {
  bool has[CHUNKS + 1]
};
Table current[2], used[2];
byte known[2]; /* the newest chunk that it was told of */
bool hung_up[2];

#define IS_MAPPED(r, c) (!gone[r] && (current[r].has[c] || used[r].has[c]))
/* Nobody else is where this one is going to lie. */
#define HAS_THE_ADDRESSES_ALONE(r, c, id) (c == id || address_of[c] != address_of[id] || !IS_MAPPED(r, c))

/* --- the publisher ------------------------------------------------------------------------------------------------------------------ */

typedef Told {
  byte last, in_flight;                                            /* last: announced, in whatever way */
  bool waits[CHUNKS + 1], without_memory[CHUNKS + 1];              /* to be sent, in the order of ids */
  bool chunk[CHUNKS + 1], owes[CHUNKS + 1], is_waited_for[CHUNKS + 1]
};
Told told[2];

inline send_waiting(r, c) {
  FOR_EACH(c) {
    if
    :: told[r].waits[c] && told[r].in_flight == 0 ->
       told[r].waits[c] = false;
       if
       :: told[r].without_memory[c] ->
          to_reader[r] ! WITHDRAWN(c);
          told[r].owes[c] = true
       :: else ->
          to_reader[r] ! CHUNK(c);
          told[r].in_flight = c;
          told[r].chunk[c] = true
       fi
    :: else
    fi
  }
}

inline announce(r, id, has_memory) {
  if
  :: listed[r] && id > told[r].last ->
     told[r].waits[id] = true;
     told[r].without_memory[id] = !has_memory;
     told[r].last = id
  :: else
  fi
}

inline withdraw(r, id, c) {
  if
  :: !listed[r]
  :: listed[r] && id > told[r].last ->
#ifndef WITHDRAWN_UNTOLD_IN_SILENCE
     announce(r, id, false);
     send_waiting(r, c)
#endif
  :: listed[r] && id <= told[r].last && told[r].waits[id] -> told[r].without_memory[id] = true
  :: listed[r] && id <= told[r].last && !told[r].waits[id] ->
     if
     :: told[r].chunk[id] ->
        to_reader[r] ! WITHDRAWN(id);
        told[r].owes[id] = true;
        told[r].chunk[id] = false
     :: else
     fi;
     told[r].is_waited_for[id] = told[r].owes[id]
  fi
}

inline reuse_if_answered(id) {
  if
#ifdef REUSED_AFTER_ONE_ANSWER
  :: !told[0].is_waited_for[id] || !told[1].is_waited_for[id] -> owner_of[address_of[id]] = (owner_of[address_of[id]] == id -> 0 : owner_of[address_of[id]])
#else
  :: !told[0].is_waited_for[id] && !told[1].is_waited_for[id] -> owner_of[address_of[id]] = 0
#endif
  :: else
  fi
}

inline hear(r) {
  if
  :: to_publisher[r] ? MAPPED(id) ->
     assert(told[r].in_flight == id);
     told[r].in_flight = 0;
     send_waiting(r, c)
  :: to_publisher[r] ? UNMAPPED(id) ->
     assert(told[r].owes[id]);
     told[r].owes[id] = false;
     if
     :: told[r].is_waited_for[id] ->
        told[r].is_waited_for[id] = false;
        reuse_if_answered(id)
     :: else
     fi
  fi;
  id = 0;
  c = 0
}

inline forget(r) {
  listed[r] = false;
  FOR_EACH(id) {
    if
    :: told[r].is_waited_for[id] ->
       told[r].is_waited_for[id] = false;
       reuse_if_answered(id)
    :: else
    fi;
    told[r].waits[id] = false;
    told[r].without_memory[id] = false;
    told[r].chunk[id] = false;
    told[r].owes[id] = false
  }
  told[r].last = 0;
  told[r].in_flight = 0;
  id = 0;
  do
  :: to_reader[r] ? _, _
  :: to_publisher[r] ? _, _
  :: empty(to_reader[r]) && empty(to_publisher[r]) -> break
  od
}

proctype Publisher() {
  byte id, c, at_announcing, up_to, published;
  bool listed[2] = true, gone_now[CHUNKS + 1];
  {
#ifdef ALONE
    d_step {
      listed[1] = false;
      decided[1] = true
    };
#else
    skip;
#endif
end:
    do
    :: atomic { nempty(to_publisher[0]) && listed[0] -> hear(0) }
    :: atomic { nempty(to_publisher[1]) && listed[1] -> hear(1) }
#ifndef DEAD_ARE_NOT_FORGOTTEN
    :: atomic { gone[0] && listed[0] -> forget(0) }
#endif
    :: d_step { /* what nobody needs any more is retired */
         frame != 0 && (decided[0] || gone[0]) && (!claimed[0] || gone[0]) && decided[1] && !claimed[1] -> frame = 0;
         frame_chunk = 0;
         frame_newest = 0;
         decided[0] = false;
         decided[1] = !listed[1]
       }
    :: atomic { frame == 0 && loaned == 0 && published < FRAMES && !window_locked && (exists[1] || exists[2] || exists[3]) ->
         if
         :: exists[1] -> loaned = 1
         :: exists[2] -> loaned = 2
         :: exists[3] -> loaned = 3
         fi
       }
    :: loaned != 0 ->
#ifndef NEWEST_READ_AFTER_ANNOUNCING
       at_announcing = newest;
#endif
       if
       :: d_step { changed -> changed = false } ->
          up_to = newest; /* what is made after this is for the next time */
#ifdef DROPPED_READ_BEFORE_ANNOUNCING
          d_step { FOR_EACH(id) { gone_now[id] = dropped[id] } id = 0 };
#endif
          atomic {
            !window_locked;
            FOR_EACH(id) {
              if
              :: exists[id] ->
                 announce(0, id, true);
                 announce(1, id, true)
              :: else
              fi
            }
            if
            :: listed[0] -> send_waiting(0, c)
            :: else
            fi;
            if
            :: listed[1] -> send_waiting(1, c)
            :: else
            fi;
            id = 0;
            c = 0
          };
#if defined(WITHDRAWN_THOUGH_MADE_AFTER_ANNOUNCING)
          d_step { FOR_EACH(id) { gone_now[id] = dropped[id] } id = 0 };
#elif !defined(DROPPED_READ_BEFORE_ANNOUNCING)
          d_step { FOR_EACH(id) { gone_now[id] = dropped[id] && id <= up_to } id = 0 };
#endif
          atomic {
            FOR_EACH(id) {
              if
              :: gone_now[id] ->
                 withdraw(0, id, c);
                 withdraw(1, id, c);
                 reuse_if_answered(id);
                 gone_now[id] = false;
                 dropped[id] = false
              :: else
              fi
            }
            id = 0;
            c = 0
          }
       :: else
       fi;
#ifdef NEWEST_READ_AFTER_ANNOUNCING
       at_announcing = newest;
#endif
       d_step {
         published++;
         frame_chunk = loaned;
         frame_newest = at_announcing;
         frame = published;
         loaned = 0;
         at_announcing = 0;
         up_to = 0
       }
    od
  } unless { gone[PUBLISHER] }
}

/* Other threads that allocate, and let go of what they have. */
proctype Allocator() {
  byte id, c, address;
  {
    skip;
end:
    do
    :: atomic { last_id < CHUNKS && (owner_of[1] == 0 || owner_of[2] == 0 || (ADDRESSES > 2 && owner_of[3] == 0)) ->
         id = last_id + 1;
         last_id = id;
         address = (owner_of[1] == 0 -> 1 : (owner_of[2] == 0 -> 2 : 3));
         owner_of[address] = id;
         address_of[id] = address;
         FOR_EACH(c) { assert(HAS_THE_ADDRESSES_ALONE(0, c, id) && HAS_THE_ADDRESSES_ALONE(1, c, id)) }
         exists[id] = true;
         window_locked = true;
         address = 0;
         c = 0
       };
       changed = true;
       d_step {
         newest = id;
         window_locked = false;
         id = 0
       }
    :: d_step { exists[1] && loaned != 1 && frame_chunk != 1 -> id = 1 } -> goto drop
    :: d_step { exists[2] && loaned != 2 && frame_chunk != 2 -> id = 2 } -> goto drop
    :: d_step { exists[3] && loaned != 3 && frame_chunk != 3 -> id = 3 } -> goto drop
    od;
drop:
    skip;
    d_step {
      if
      :: loaned != id && frame_chunk != id ->
         exists[id] = false;
         dropped[id] = true;
#ifdef REUSED_AT_ONCE
         owner_of[address_of[id]] = 0;
#endif
         changed = true
      :: else
      fi;
      id = 0
    };
    goto end
  } unless { gone[PUBLISHER] }
}

/* --- the readers -------------------------------------------------------------------------------------------------------------------- */

#define me 0

proctype Socket() {
  byte id, c;
  {
    skip;
end:
    do
    :: to_reader[me] ? CHUNK(id) ->
       atomic {
         FOR_EACH(c) { assert(HAS_THE_ADDRESSES_ALONE(me, c, id)) }
         c = 0;
#ifdef TOLD_BEFORE_IT_IS_MAPPED
         known[me] = id
       };
       current[me].has[id] = true;
#else
         current[me].has[id] = true
       };
       known[me] = id;
#endif
       to_publisher[me] ! MAPPED(id);
       id = 0
    :: to_reader[me] ? WITHDRAWN(id) ->
       atomic { /* unmapped with the last table that has it */
         if
#ifdef ANSWERED_WHILE_USED
         :: true ->
#else
         :: !used[me].has[id] ->
#endif
            to_publisher[me] ! UNMAPPED(id)
         :: else
         fi;
         current[me].has[id] = false
       };
       d_step {
         known[me] = (id > known[me] -> id : known[me]);
         id = 0
       }
    :: empty(to_reader[me]) && gone[PUBLISHER] -> break
    od;
    hung_up[me] = true
  } unless {
    d_step {
      gone[me] -> id = 0;
      c = 0;
      known[me] = 0;
      FOR_EACH(c) {
        current[me].has[c] = false
      }
      c = 0
    }
  }
}

inline refresh() {
  atomic {
    FOR_EACH(c) {
#ifndef ANSWERED_WHILE_USED
      if
      :: used[me].has[c] && !current[me].has[c] -> to_publisher[me] ! UNMAPPED(c)
      :: else
      fi;
#endif
      used[me].has[c] = current[me].has[c]
    }
    c = 0
  }
}

#define IS_STALE (used[me].has[1] != current[me].has[1] || used[me].has[2] != current[me].has[2] || used[me].has[3] != current[me].has[3])

proctype Messages() {
  byte chunk, stalled_for, seen_known, c;
  bool no_more_chunks;
  {
    skip;
end:
    do
    :: IS_STALE -> refresh()
    :: frame != 0 && !decided[me] && (stalled_for <= known[me] || hung_up[me]) ->
       stalled_for = 0;
#ifndef END_LOOKED_AT_AFTER_CHUNKS
       no_more_chunks = hung_up[me];
#endif
       d_step {
         claimed[me] = true;
         chunk = frame_chunk;
         stalled_for = frame_newest
       };
       seen_known = known[me];
#ifdef END_LOOKED_AT_AFTER_CHUNKS
       no_more_chunks = hung_up[me];
#endif
       if
#ifdef NOT_LEFT_PENDING
       :: false
#else
       :: stalled_for > seen_known
#endif
          ->
          if
          :: no_more_chunks ->
             assert(stalled_for > known[me]);
             decided[me] = true
          :: else
          fi
       :: else ->
#ifndef NOT_REFRESHED_AFTER_LOOKING
          refresh();
#endif
          stalled_for = 0;
          decided[me] = true;
          assert(used[me].has[chunk])
       fi;
       d_step {
         claimed[me] = false;
         chunk = 0;
         seen_known = 0;
         no_more_chunks = false
       }
    od
  } unless {
    d_step {
      gone[me] -> chunk = 0;
      stalled_for = 0;
      seen_known = 0;
      no_more_chunks = false;
      claimed[me] = false;
      FOR_EACH(c) {
        used[me].has[c] = false
      }
      c = 0
    }
  }
}

/* The other reader, whose threads do not get in each other's way. */
proctype Plain() {
  byte id, c;
end:
  do
  :: atomic { to_reader[1] ? CHUNK(id) ->
       FOR_EACH(c) { assert(HAS_THE_ADDRESSES_ALONE(1, c, id)) }
       current[1].has[id] = true;
       known[1] = id;
       to_publisher[1] ! MAPPED(id);
       id = 0;
       c = 0
     }
  :: atomic { to_reader[1] ? WITHDRAWN(id) ->
       current[1].has[id] = false;
       known[1] = (id > known[1] -> id : known[1]);
       to_publisher[1] ! UNMAPPED(id);
       id = 0
     }
  :: d_step { frame != 0 && !decided[1] && frame_newest <= known[1] ->
       assert(current[1].has[frame_chunk]);
       decided[1] = true
     }
  :: d_step { frame != 0 && !decided[1] && frame_newest > known[1] && gone[PUBLISHER] && empty(to_reader[1]) -> decided[1] = true }
  od
}

/* Ends one of them, or nobody, whenever it likes. */
proctype Death() {
end:
  if
  :: gone[PUBLISHER] = true
  :: gone[0] = true
  :: skip
  fi
}

proctype Judge() {
end:
  timeout -> assert(frame == 0 || (decided[0] || gone[0]) && decided[1]);
  assert(gone[PUBLISHER] || !told[0].is_waited_for[1] && !told[0].is_waited_for[2] && !told[0].is_waited_for[3]);
  assert(gone[PUBLISHER] || !told[1].is_waited_for[1] && !told[1].is_waited_for[2] && !told[1].is_waited_for[3])
}

init {
  atomic {
    run Publisher();
    run Allocator();
    run Socket();
    run Messages();
#ifndef ALONE
    run Plain();
#endif
#if defined(DEATH) || defined(ALONE) && ADDRESSES == 2
    run Death();
#endif
    run Judge()
  }
}
