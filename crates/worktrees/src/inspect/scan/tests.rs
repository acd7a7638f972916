use super::tests_in;

/// The names of tests; skipped ones with a minus before.
fn found(path: &str, text: &str) -> String {
    let word = |it: &super::Test| format!("{}{}", if it.is_skipped { "-" } else { "" }, it.name);
    tests_in(path.as_bytes(), text).iter().map(word).collect::<Vec<_>>().join(" | ")
}

#[test]
fn rust_tests_are_found() {
    let text = r#"
        #[test]
        fn one() {}
        #[test] #[ignore = "slow"]
        fn two() {}
        #[tokio::test(flavor = "multi_thread")]
        async fn three() {}
        // #[test]
        fn not_a_test() {}
        #[cfg(any())]
        #[test]
        pub fn four() {}
        #[expect(dead_code)]
        fn helper() {}
        /* #[test]
        fn gone() {} */
        #[test]
        #[should_panic]
        fn five<T>() {}
    "#;
    assert_eq!(found("a.rs", text), "one | -two | three | -four | five");
}

#[test]
fn python_tests_are_found() {
    let text = "
import pytest

def helper():
    pytest.skip('x')

def test_a(): pass

@pytest.mark.skip(reason='x')
def test_b():
    pass

class TestC:
    async def test_d(self):
        self.skipTest('x')

    def test_e(self): pass

@unittest.skip('x')
class TestF:
    def test_g(self): pass

# def test_h(): pass
def test_i():
    assert 1
";
    assert_eq!(
        found("a.py", text),
        "test_a | -test_b | -TestC.test_d | TestC.test_e | -TestF.test_g | test_i"
    );
    assert_eq!(found("a.py", "pytestmark = pytest.mark.skip\ndef test_a(): pass"), "-test_a");
}

#[test]
fn javascript_tests_are_found() {
    let text = "
describe('a', () => {
  it('one', () => {});
  it.skip(\"two\", () => {});
  xit('three');
});
describe.skip('b', () => {
  test(`four`, () => {});
});
test('five', async () => { it2('x') });
test.each([[1, 'x']])('six %i', () => {});
test.todo('seven');
iterate('no');
";
    assert_eq!(found("a.test.ts", text), "one | -two | -three | -four | five | six %i | -seven");
    assert_eq!(found("a.js", "it('one');\nit.only('two');\nfit('three');"), "-one | two | three");
}

#[test]
fn other_languages_have_tests_too() {
    let go = "func TestA(t *testing.T) {\n\tt.Skip()\n}\nfunc helper() {}\nfunc TestB(t *testing.T) {\n}\n";
    assert_eq!(found("a_test.go", go), "-TestA | TestB");
    let java = "class A {\n  @Test\n  void one() {}\n  @Disabled @Test\n  public void two() {}\n  @Test void three() {}\n  void four() {}\n}\n";
    assert_eq!(found("A.java", java), "one | -two | three");
    assert_eq!(found("A.java", "@Disabled\nclass A {\n  @Test\n  void one() {}\n}\n"), "-one");
    let cpp = "TEST(Suite, One) {\n}\nTEST_F(Suite, DISABLED_Two) {\n}\nTEST_CASE(\"three\") {\n}\n";
    assert_eq!(found("a.cc", cpp), "Suite.One | -Suite.Two | three");
}
