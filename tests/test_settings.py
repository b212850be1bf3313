"""The table of settings feeds the command line."""

import msgspec

from app.settings import SETTINGS, Settings


def test_every_setting_of_the_table_is_a_field_and_every_field_has_a_row() -> None:
    assert {setting.field for setting in SETTINGS} == {
        field.name for field in msgspec.structs.fields(Settings)
    }


def test_every_help_is_a_sentence_people_can_read() -> None:
    for setting in SETTINGS:
        assert len(setting.help.split()) >= 4, setting.flag
        assert bool(setting.metavar) == (setting.parse is not None), setting.flag
