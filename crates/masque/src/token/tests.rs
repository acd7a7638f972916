#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn home() -> (tempfile::TempDir, Directories) {
    let home = tempfile::tempdir().expect("a directory");
    let directories = Directories::below(home.path());
    std::fs::create_dir_all(directories.masque_data()).expect("a directory");
    (home, directories)
}

#[test]
fn a_token_is_made_once() {
    let (_home, directories) = home();
    let first = UserToken::open(None, Some(&directories)).expect("a token");
    let again = UserToken::open(None, Some(&directories)).expect("a token");
    assert_eq!((&first.token, &first.file), (&again.token, &Some(directories.token_file())));
    assert_eq!((first.warning, again.warning), (None, None));
    let text = std::fs::read_to_string(directories.token_file()).expect("a file");
    assert_eq!(text, format!("{}\n", first.token.expose()));
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(directories.token_file()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn a_token_that_others_could_read_is_replaced() {
    let (_home, directories) = home();
    let first = UserToken::open(None, Some(&directories)).expect("a token");
    let file = directories.token_file();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("permissions");
    let second = UserToken::open(None, Some(&directories)).expect("a token");
    assert_ne!(first.token, second.token);
    assert!(second.warning.is_some_and(|warning| warning.contains("other users")));
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let third = UserToken::open(None, Some(&directories)).expect("a token");
    assert_eq!((third.token, third.warning), (second.token, None));
}

#[test]
fn an_empty_file_gets_a_token_and_a_wrong_one_stays() {
    let (_home, directories) = home();
    let file = directories.token_file();
    std::fs::write(&file, "\n").expect("a file");
    // Whoever may read a new file may not read this one.
    let made = UserToken::open(Some(&file), None).expect("a token");
    assert_eq!(std::fs::read_to_string(&file).expect("a file").trim(), made.token.expose());
    std::fs::write(&file, "too short").expect("a file");
    let Err(Failure::Reported(report)) = UserToken::open(Some(&file), None) else { panic!("no token") };
    assert_eq!(report.code, app::Code::InvalidConfig);
    assert!(!report.message.contains("too short"), "{report:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "too short");
}

#[test]
fn a_named_file_has_a_token_of_the_users_own() {
    let (home, _) = home();
    let file = home.path().join("secret");
    std::fs::write(&file, "0123456789-0123456789-0123456789-x\n").expect("a file");
    let named = UserToken::open(Some(&file), None).expect("a token");
    assert_eq!(named.token.expose(), "0123456789-0123456789-0123456789-x");
    let absent = home.path().join("nowhere").join("secret");
    assert!(UserToken::open(Some(&absent), None).is_err());
}

#[test]
fn a_token_that_cannot_be_kept_passes() {
    let (home, _) = home();
    let below_a_file = Directories::below(&home.path().join("file"));
    std::fs::write(home.path().join("file"), "").expect("a file");
    for directories in [None, Some(&below_a_file)] {
        match UserToken::open(None, directories) {
            Ok(token) => assert!(token.file.is_none() && token.warning.is_some(), "{token:?}"),
            // The parent is not a directory.
            Err(Failure::Reported(report)) => assert_eq!(report.code, app::Code::FileFailed),
            Err(other) => panic!("{other:?}"),
        }
    }
}
