"""Code, commands, addresses and ids: the same characters are right, one other is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._codes import READERS, by_code, code_of
from adjudge.judges.local._pair import Candidate, read_question
from adjudge.judges.local._tier0 import assess

_CODE = [
    (
        "Which file lists npm dependencies?",
        "package.json",
        [
            "package.json",
            "`package.json`",
            "The file is package.json.",
            "the package.json file",
            "./package.json",
            "**package.json**",
        ],
        [
            "package.xml",
            "package-lock.json",
            "packages.json",
            "bower.json",
            "`package.yaml`",
            "The file is package.xml.",
        ],
    ),
    (
        "Which file has the entry point?",
        "main.py",
        ["main.py", "`main.py`", "src/main.py"],
        ["main.js", "app.py", "main.pyc", "__main__.py", "It is in main.js."],
    ),
    (
        "Which command records changes?",
        "git commit",
        [
            "git commit",
            "`git commit`",
            "$ git commit",
            "You can use `git commit`.",
            "```bash\ngit commit\n```",
            'git commit -m "msg"',
            "git commit -m 'message'",
            "Git commit",
        ],
        ["git add", "git push", "`git add`", "git stash", "hg commit", "git checkout"],
    ),
    (
        "Which command shows hidden files?",
        "ls -a",
        ["ls -a", "`ls -a`", "$ ls -a", "```\nls -a\n```"],
        ["ls -l", "ls", "ls -h", "`ls -l`", "dir", "ls -r"],
    ),
    (
        "How do I install requests?",
        "pip install requests",
        [
            "pip install requests",
            "$ pip install requests",
            "`pip install requests`",
            "```sh\n$ pip install requests\n```",
            "python -m pip install requests",
        ],
        [
            "pip install request",
            "pip uninstall requests",
            "npm install requests",
            "pip install flask",
            "conda install requests",
        ],
    ),
    (
        "Which command lists in long form with all files?",
        "ls -la",
        ["ls -al", "ls -l -a", "ls -la"],
        ["ls -l", "ls -a", "ls -lh"],
    ),
    (
        "Which function prints?",
        "print()",
        ["print", "print()", "`print`", "`print()`", "the print() function", "The print function"],
        ["echo", "printf", "println()", "`input()`", "puts"],
    ),
    (
        "Which function returns the length?",
        "len",
        ["len()", "len", "`len()`", "The len() function"],
        ["length()", "size()", "count()", "`length`"],
    ),
    (
        "What is the variable called?",
        "user_name",
        ["user_name", "`user_name`", "The variable is user_name."],
        ["username2", "user_id", "userName", "user_names", "`user_id`"],
    ),
    (
        "Which method is called?",
        "getElementById",
        ["getElementById", "`getElementById()`", "document.getElementById", "getElementById()"],
        ["getElementsByClassName", "getElementsById", "querySelector", "`querySelector()`"],
    ),
    (
        "What does the Python function return?",
        "None",
        ["None", "`None`"],
        ["null", "undefined", "False", "`null`"],
    ),
    ("What is the value in JSON?", "null", ["null", "`null`", "NULL"], ["undefined", "0", "None", "false"]),
    ("What does it evaluate to?", "true", ["true", "True", "TRUE", "`true`"], ["false", "False", "`false`"]),
    ("Which language is it written in?", "C++", ["C++", "c++", "the C++ language"], ["C", "C#", "Java"]),
    ("Which language is it written in?", "C#", ["C#", "C sharp", "c#", "C# language"], ["C", "C++", "F#", "Java"]),
    ("Which language is it written in?", "F#", ["F#", "F sharp"], ["C#", "F", "OCaml"]),
    ("Which language is it written in?", "Java", ["Java", "java"], ["JavaScript", "Kotlin"]),
    ("Which language is it written in?", "JavaScript", ["JavaScript", "javascript"], ["Java", "TypeScript"]),
    ("Which framework is it?", ".NET", [".NET", ".NET framework"], ["Java", "Node.js"]),
    (
        "Which runtime is it?",
        "Node.js",
        ["Node.js", "Node", "node.js", "`Node.js`"],
        ["Next.js", "Deno", "Vue.js", "Nuxt.js"],
    ),
    ("Which framework is used?", "Vue", ["Vue.js", "Vue"], ["React", "Angular", "React.js", "Vuex"]),
    ("Which framework is used?", "React.js", ["React", "React.js"], ["Vue.js", "Angular"]),
    (
        "Which Python version introduced match?",
        "3.10",
        ["3.10", "v3.10", "Python 3.10", "`3.10`", "version 3.10", "Python v3.10", "In Python 3.10."],
        ["3.1", "3.11", "Python 3.1", "v3.9", "3.10.1", "Python 3.9"],
    ),
    (
        "Which version is installed?",
        "v2.4.1",
        ["2.4.1", "v2.4.1", "version 2.4.1", "Version: 2.4.1"],
        ["2.4", "2.4.10", "2.41", "v2.4.2", "2.4.1-beta"],
    ),
    (
        "What is the page's address?",
        "https://example.com/docs",
        [
            "https://example.com/docs",
            "https://example.com/docs/",
            "http://example.com/docs",
            "example.com/docs",
            "www.example.com/docs",
            "The address is https://example.com/docs.",
            "[docs](https://example.com/docs)",
        ],
        ["https://example.com/doc", "https://example.org/docs", "https://example.com", "https://example.com/docs/v2"],
    ),
    (
        "Where is the config?",
        "/etc/nginx/nginx.conf",
        ["/etc/nginx/nginx.conf", "`/etc/nginx/nginx.conf`", "It is at /etc/nginx/nginx.conf."],
        ["/etc/nginx.conf", "/etc/nginx/conf.d", "/usr/local/nginx/nginx.conf", "~/nginx.conf"],
    ),
    (
        "Which directory holds logs?",
        "/var/log",
        ["/var/log", "/var/log/", "`/var/log`"],
        ["/var/logs", "/var", "/var/lib", "/log"],
    ),
    (
        "Which HTTP status means not found?",
        "404",
        ["404", "404 Not Found", "HTTP 404", "status code 404", "`404`", "404 (Not Found)"],
        ["403", "400", "500 Internal Server Error", "4040", "401 Unauthorized"],
    ),
    (
        "Which status is returned?",
        "404 Not Found",
        ["404", "404 Not Found", "HTTP 404"],
        ["403", "403 Forbidden", "500", "200 OK"],
    ),
    (
        "What is the hex colour of red?",
        "#FF0000",
        ["#FF0000", "#ff0000", "FF0000", "`#ff0000`"],
        ["#00FF00", "#FF0001", "#FF00FF", "#0f0"],
    ),
    (
        "Which keys copy?",
        "Ctrl+C",
        ["Ctrl+C", "Ctrl-C", "Control-C", "control + c", "CTRL + C", "Control+C", "Press Ctrl+C.", "`Ctrl+C`"],
        ["Ctrl+V", "Ctrl+X", "Alt+C"],
    ),
    (
        "Which keys open the task manager?",
        "Ctrl+Shift+Esc",
        ["Ctrl + Shift + Esc", "Shift+Ctrl+Esc"],
        ["Ctrl+Shift+Tab"],
    ),
    ("Which regex matches digits?", "\\d+", ["\\d+", "`\\d+`", "/\\d+/"], ["\\w+", "\\s+", "`\\w+`"]),
    ("Which regex matches a word at the start?", "^\\w+", ["^\\w+", "`^\\w+`"], ["^\\d+"]),
    (
        "Which SQL clause filters groups?",
        "HAVING",
        ["HAVING", "having", "`HAVING`", "The HAVING clause"],
        ["WHERE", "GROUP BY", "ORDER BY", "`WHERE`", "where"],
    ),
    (
        "Which SQL keyword sorts?",
        "ORDER BY",
        ["ORDER BY", "order by", "`ORDER BY`"],
        ["GROUP BY", "SORT BY", "HAVING", "group by"],
    ),
    (
        "Which join keeps all left rows?",
        "LEFT JOIN",
        ["LEFT JOIN", "left join", "LEFT OUTER JOIN"],
        ["RIGHT JOIN", "INNER JOIN", "right join", "FULL JOIN", "CROSS JOIN"],
    ),
    (
        "What is it?",
        "42",
        ['{"answer": 42}', '```json\n{"answer": 42}\n```', '{"answer": "42"}', "```\n42\n```"],
        ['{"answer": 43}', '```json\n{"answer": 24}\n```', "```\n24\n```"],
    ),
    (
        "What is the capital?",
        "Paris",
        ["```\nParis\n```", '{"answer": "Paris"}', "`Paris`"],
        ["```\nLyon\n```", '{"answer": "Lyon"}'],
    ),
    (
        "What is the time complexity?",
        "O(n)",
        ["linear time", "O(n)", "linear", "$O(n)$", "`O(n)`"],
        ["O(1)", "O(n^2)", "O(log n)", "quadratic time", "O(m)"],
    ),
    ("Which operator tests identity in Python?", "is", ["is", "`is`"], ["==", "`==`"]),
    ("Which operator is strict equality?", "===", ["===", "`===`"], ["==", "=", "!=="]),
    ("Which operator is logical and?", "&&", ["&&", "`&&`"], ["||", "&", "and"]),
    (
        "Which decorator is it?",
        "@staticmethod",
        ["@staticmethod", "staticmethod", "`@staticmethod`"],
        ["@classmethod", "@property", "classmethod"],
    ),
]
_IDS = [
    (
        "What is the order number?",
        "ORD-48213",
        [
            "ORD-48213",
            "ORD48213",
            "ord-48213",
            "#ORD-48213",
            "The order number is ORD-48213.",
            "Your order is **ORD-48213**.",
        ],
        ["ORD-48231", "ORD-4821", "48213-ORD", "ORD-48214", "The order number is ORD-48231.", "ORD-482130"],
    ),
    ("What is the order number?", "#10293", ["#10293", "10293", "Order #10293"], ["#10239", "10294", "#1029"]),
    (
        "What is the tracking number?",
        "1Z999AA10123456784",
        [
            "1Z999AA10123456784",
            "1Z 999 AA1 01 2345 6784",
            "1z999aa10123456784",
            "The tracking number is 1Z999AA10123456784.",
        ],
        ["1Z999AA10123456785", "1Z999AA1012345678", "1Z999AB10123456784", "The tracking number is 1Z999AA10123456748."],
    ),
    (
        "What is the phone number?",
        "(555) 123-4567",
        ["555-123-4567", "555.123.4567", "555 123 4567", "5551234567", "(555)123-4567", "You can call 555-123-4567."],
        ["555-123-4568", "555-132-4567", "(556) 123-4567", "555-123-456", "You can call 555-123-4576."],
    ),
    (
        "What is the phone number?",
        "+49 30 1234567",
        ["+49 30 1234567", "+49301234567", "+49-30-1234567", "+49 (30) 1234567", "030 1234567"],
        ["+49 30 1234568", "+48 30 1234567", "+49 40 1234567"],
    ),
    (
        "What is the email?",
        "Jane.Doe@example.com",
        [
            "jane.doe@example.com",
            "Jane.Doe@Example.com",
            "<jane.doe@example.com>",
            "The email is jane.doe@example.com.",
            "mailto:jane.doe@example.com",
        ],
        [
            "janedoe@example.com",
            "jane.doe@example.org",
            "jane.doe@examples.com",
            "john.doe@example.com",
            "jane.do@example.com",
        ],
    ),
    (
        "What is the IBAN?",
        "DE89 3704 0044 0532 0130 00",
        [
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "de89 3704 0044 0532 0130 00",
            "The IBAN is DE89370400440532013000.",
        ],
        [
            "DE89370400440532013001",
            "DE89 3704 0044 0532 0130 0",
            "DE98370400440532013000",
            "The IBAN is DE89370400440532013010.",
        ],
    ),
    (
        "What is the ISBN?",
        "978-3-16-148410-0",
        ["9783161484100", "978 3 16 148410 0", "978-3-16-148410-0", "ISBN 978-3-16-148410-0", "ISBN: 9783161484100"],
        ["978-3-16-148410-1", "9783161484101", "978-3-16-148401-0", "3-16-148410-0 X"],
    ),
    ("What is the ISBN?", "0-306-40615-2", ["0306406152", "0-306-40615-2"], ["0306406153", "0-306-40651-2"]),
    (
        "Which flight is it?",
        "LH 440",
        ["LH440", "LH 440", "LH-440", "flight LH440"],
        ["LH 404", "LH 441", "BA 440", "LH 4400"],
    ),
    (
        "What is the booking reference?",
        "X7K9QP",
        ["X7K9QP", "x7k9qp", "`X7K9QP`", "Your booking reference is X7K9QP."],
        ["X7K9PQ", "X7K9Q", "X7K8QP"],
    ),
    (
        "What is the UUID?",
        "550e8400-e29b-41d4-a716-446655440000",
        [
            "550E8400-E29B-41D4-A716-446655440000",
            "550e8400e29b41d4a716446655440000",
            "`550e8400-e29b-41d4-a716-446655440000`",
        ],
        ["550e8400-e29b-41d4-a716-446655440001", "550e8400-e29b-41d4-a716-44665544000"],
    ),
    (
        "What is the IP address?",
        "192.168.1.1",
        ["192.168.1.1", "`192.168.1.1`", "The address is 192.168.1.1."],
        ["192.168.1.10", "192.168.0.1", "192.168.1", "10.0.0.1"],
    ),
    (
        "What is the license plate?",
        "ABC-1234",
        ["ABC 1234", "ABC1234", "abc-1234"],
        ["ABC-1243", "ABD-1234", "ABC-123"],
    ),
    (
        "When did the war last?",
        "1939-1945",
        ["1939 to 1945", "1939–1945", "from 1939 until 1945"],
        ["1939-1944", "1914-1918"],
    ),
    ("How fast is light in m/s?", "299 792 458", [], ["299,792,485"]),
]
_RIGHT = [(question, reference, one) for question, reference, right, _ in (*_CODE, *_IDS) for one in right]
_WRONG = [(question, reference, one) for question, reference, _, wrong in (*_CODE, *_IDS) for one in wrong]


@pytest.mark.parametrize(("question", "reference", "response"), _RIGHT)
def test_the_same_code(question: str, reference: str, response: str) -> None:
    """Marks around it, words before it and what does not count in its kind make no other code of a code."""
    assert assess(question, (reference,), response).is_right


@pytest.mark.parametrize(("question", "reference", "response"), _WRONG)
def test_another_code(question: str, reference: str, response: str) -> None:
    """Another character, option, ending or key is another answer."""
    assert not assess(question, (reference,), response).is_right


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("ORD-48213", "ORD-48213 or ORD-48214"),
        ("a.b@example.org", "a.b@example.org and c.d@example.org"),
        ("main.py", "main.py or app.py"),
        ("git commit", "git commit or git push"),
        ("(555) 123-4567", "(555) 123-4567, (555) 123-9999"),
        ("gold", "gold, silver"),
        ("CO2", "CO or CO2"),
        ("git commit", "`git commit` and then `git push`"),
    ],
)
def test_several_codes(reference: str, response: str) -> None:
    """Who gives two codes where one is asked for has given none."""
    assert not assess("Which one is it?", (reference,), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Which file is it?", "src/main.py", "main.py"),
        ("Which file is it?", "main.py", "It is not main.py."),
        ("Which command is it?", "git pull", "git pull origin main"),
        ("Which function is it?", "os.path.join", "join"),
        ("What is left?", "None", "nil"),
        ("What did it cost?", "USD 5000", "$5,000"),
        ("Which year was it?", "AD 1066", "1066"),
        ("How many people are there?", "331 002 651", "331 million"),
        ("Which function does it have?", "pump", "pumping"),
        ("Which join is it?", "INNER JOIN", "JOIN"),
        ("Which site is it?", "www.example.com", "Example"),
        ("Which value is it?", "2.10", "2.1"),
    ],
)
def test_what_is_not_plain_is_left_alone(question: str, reference: str, response: str) -> None:
    """What is a part of a code, or may be a quantity or a word, is no matter of characters."""
    assert by_code(read_question(question), code_of([reference]), Candidate(response)) is None


@pytest.mark.parametrize("text", ["Paris", "AC/DC", "1939-1945", "Amazon.com", "10 May 1940", "eBay", "$5 million", ""])
def test_no_code(text: str) -> None:
    """A name, a date or an amount is no code."""
    assert code_of([text]) is None


@pytest.mark.parametrize("kind", READERS)
@given(text=st.text())
def test_any_text_is_read(kind: str, text: str) -> None:
    """No text is a fault of a reader, and what is plainly of a kind can be read."""
    is_one, read = READERS[kind]
    assert not is_one(text) or read(text) is not None
