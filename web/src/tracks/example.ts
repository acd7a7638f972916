/** A track to begin with: two tickets, of which one waits for the other. */
export const EXAMPLE = `title = "Greet people by name"
goal = "The command greets whoever is named on its command line."

# What proves a ticket that names no check itself. It runs in a fresh checkout.
check = "make test"

[[tickets]]
id = "T1"
title = "Take a name from the command line"
description = "Read the first argument as the name. Without one, the name is \\"world\\"."
acceptance = ["with an argument, the name is the argument", "without one, it is \\"world\\""]

[[tickets]]
id = "T2"
title = "Greet by name"
depends_on = ["T1"]
acceptance = ["the greeting has the name"]
`;
