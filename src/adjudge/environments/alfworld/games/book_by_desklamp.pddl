; A bedroom: the book lies on the bed, the lamp stands on the desk.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem book_by_desklamp)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    bed_bar_1 desk_bar_1 drawer_bar_1 shelf_bar_1 - receptacle
    book_bar_1 pillow_bar_1 desklamp_bar_1 pencil_bar_1 cellphone_bar_1 vase_bar_1 - object
    BedType DeskType DrawerType FridgeType MicrowaveType ShelfType SinkBasinType - rtype
    BookType ButterKnifeType CellPhoneType DeskLampType KnifeType PencilType PillowType VaseType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation bed_bar_1 loc_1) (receptacleType bed_bar_1 BedType)
    (receptacleAtLocation desk_bar_1 loc_2) (receptacleType desk_bar_1 DeskType)
    (receptacleAtLocation drawer_bar_1 loc_3) (receptacleType drawer_bar_1 DrawerType) (openable drawer_bar_1)
    (receptacleAtLocation shelf_bar_1 loc_4) (receptacleType shelf_bar_1 ShelfType)
    (inReceptacle book_bar_1 bed_bar_1) (objectAtLocation book_bar_1 loc_1) (objectType book_bar_1 BookType) (pickupable book_bar_1)
    (inReceptacle pillow_bar_1 bed_bar_1) (objectAtLocation pillow_bar_1 loc_1) (objectType pillow_bar_1 PillowType) (pickupable pillow_bar_1)
    (inReceptacle desklamp_bar_1 desk_bar_1) (objectAtLocation desklamp_bar_1 loc_2) (objectType desklamp_bar_1 DeskLampType) (toggleable desklamp_bar_1)
    (inReceptacle pencil_bar_1 desk_bar_1) (objectAtLocation pencil_bar_1 loc_2) (objectType pencil_bar_1 PencilType) (pickupable pencil_bar_1)
    (inReceptacle cellphone_bar_1 drawer_bar_1) (objectAtLocation cellphone_bar_1 loc_3) (objectType cellphone_bar_1 CellPhoneType) (pickupable cellphone_bar_1)
    (inReceptacle vase_bar_1 shelf_bar_1) (objectAtLocation vase_bar_1 loc_4) (objectType vase_bar_1 VaseType) (pickupable vase_bar_1)
    (canContain BedType BookType) (canContain BedType CellPhoneType) (canContain BedType PencilType) (canContain BedType PillowType) (canContain BedType VaseType)
    (canContain DeskType BookType) (canContain DeskType CellPhoneType) (canContain DeskType PencilType) (canContain DeskType PillowType) (canContain DeskType VaseType)
    (canContain DrawerType BookType) (canContain DrawerType CellPhoneType) (canContain DrawerType PencilType) (canContain DrawerType PillowType) (canContain DrawerType VaseType)
    (canContain ShelfType BookType) (canContain ShelfType CellPhoneType) (canContain ShelfType PencilType) (canContain ShelfType PillowType) (canContain ShelfType VaseType)
  )
  (:goal (exists (?o - object ?lamp - object ?a - agent ?l - location)
    (and (objectType ?o BookType) (holds ?a ?o) (atLocation ?a ?l)
      (objectType ?lamp DeskLampType) (objectAtLocation ?lamp ?l) (isToggled ?lamp))))
  (:metric minimize (total-cost))
)
