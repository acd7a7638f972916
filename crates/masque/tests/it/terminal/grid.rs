//! What a terminal shows after the sequences that a program of the whole screen writes.

/// The screen as rows of characters. Colors do not matter, and every character is one cell wide.
pub(super) fn shown(written: &str, rows: usize, columns: usize) -> Vec<String> {
    let mut cells = vec![vec![' '; columns]; rows];
    let (mut row, mut column) = (0, 0);
    let mut rest = written.chars();
    while let Some(character) = rest.next() {
        match character {
            '\x1b' => {
                if rest.next() != Some('[') {
                    continue;
                }
                let (arguments, order) = sequence(&mut rest);
                let number = |at: usize| arguments.split(';').nth(at)?.parse::<usize>().ok();
                match order {
                    'H' => (row, column) = (number(0).unwrap_or(1) - 1, number(1).unwrap_or(1) - 1),
                    'J' => cells = vec![vec![' '; columns]; rows],
                    'h' | 'l' if arguments == "?1049" => cells = vec![vec![' '; columns]; rows],
                    _ => {}
                }
            }
            '\r' => column = 0,
            '\n' if row + 1 < rows => row += 1,
            '\n' => {
                cells.remove(0);
                cells.push(vec![' '; columns]);
            }
            character if character.is_control() => {}
            character => {
                if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell = character;
                }
                column += 1;
            }
        }
    }
    cells.into_iter().map(|row| row.into_iter().collect()).collect()
}

/// The arguments of a sequence, and the letter that ends it.
fn sequence(rest: &mut std::str::Chars<'_>) -> (String, char) {
    let mut arguments = String::new();
    for character in rest {
        if character.is_ascii_alphabetic() {
            return (arguments, character);
        }
        arguments.push(character);
    }
    (arguments, 'm')
}
