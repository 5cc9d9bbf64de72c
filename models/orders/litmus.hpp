#pragma once

namespace checked {

/// Tries small programs of which the literature says what they may do and what not. Prints a line for each: "-" when the checker agrees, else "WRONG".
void try_litmus();

}  // namespace checked
